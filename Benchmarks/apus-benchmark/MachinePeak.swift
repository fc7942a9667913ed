// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusCodeGeneration
import ApusKernels

/// The peak of one thread of this machine, in 10⁹ multiply-accumulates per second.
struct MachinePeak {
  /// The rate of each instruction that the machine has.
  let instructions: [InstructionPeak: Double]

  /// Products of bytes, with the fastest instruction.
  let bytes: Double
  /// Products of floats, with the fastest instruction.
  let floats: Double

  /// Measures for about 0.1 s.
  ///
  /// If no code can be generated, the fastest kernel set's large product replaces the instruction.
  init() throws(ApusError) {
    var instructions: [InstructionPeak: Double] = [:]
    for instruction in InstructionPeak.allCases { instructions[instruction] = instruction.measure() }
    self.instructions = instructions
    let fastest = { isFloat in instructions.filter { $0.key.isFloat == isFloat }.values.max() }
    if let bytes = fastest(false), let floats = fastest(true) {
      (self.bytes, self.floats) = (bytes, floats)
    } else {
      guard let set = KernelSet.supported.first else {
        throw ApusError(.invalidArgument, "no kernel set runs on this machine")
      }
      let peak = try Runtime.measuredPeak(of: KernelSetName(rawValue: set.name))
      (bytes, floats) = (peak.gmacsPerSecond8Bit, peak.gmacsPerSecondFloat32)
    }
  }

  /// The rate of the instruction on which a kernel set is built; the machine's best for the portable ones.
  func peak(of kernels: KernelSetName, isFloat: Bool) -> Double {
    let instruction: InstructionPeak? =
      switch kernels {
      case .x86AVX512VNNI: isFloat ? .fma512 : .vpdpbusd512
      case .x86AVXVNNI: isFloat ? .fma256 : .vpdpbusd256
      case .x86AVX2: isFloat ? .fma256 : .vpmaddwd256
      default: nil
      }
    return instruction.flatMap { instructions[$0] } ?? (isFloat ? floats : bytes)
  }
}
