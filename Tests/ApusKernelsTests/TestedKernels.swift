// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import Foundation
import Testing

extension KernelSet {
  /// The sets that this run tests: all that the machine supports, itself or with an emulator of arm64, or those of them
  /// that `APUS_TEST_KERNELS` names, with commas between. On an emulated processor, the sets that it is emulated for are
  /// enough.
  ///
  /// All are tested where none is named, lest a misspelt name test nothing.
  static let tested: [KernelSet] = {
    let names = ProcessInfo.processInfo.environment["APUS_TEST_KERNELS"]?.split(separator: ",").map(
      String.init)
    #if arch(x86_64) && os(Linux)
      let all = supported + [Arm64Target.dotProduct, .neon].compactMap(Arm64Emulator.kernels)
    #else
      let all = supported
    #endif
    let wanted = all.filter { names?.contains($0.name) ?? true }
    return wanted.isEmpty ? all : wanted
  }()

  /// The sets that tests of convolutions run: ``tested``, and AVX-512 laid out for machines with other pipes than this one's.
  static let testedConvolutions: [KernelSet] = {
    #if arch(x86_64)
      let sets = tested
      return sets + KernelSet.withOtherPipes.filter { other in sets.contains { $0.name == other.name } }
    #else
      return tested
    #endif
  }()

  /// Whether an emulator runs it, which takes its time.
  var isEmulated: Bool { !Self.supported.contains { $0.name == name } }

  /// Asks the emulator whether functions kept to their arguments.
  func expectNoFaults() {
    #if arch(x86_64) && os(Linux)
      guard isEmulated else { return }
      let faults = [Arm64Target.dotProduct, .neon].flatMap { Arm64Emulator.processor($0)?.takeFaults() ?? [] }
      #expect(faults.isEmpty, "\(faults.prefix(3))")
    #endif
  }

  /// The seeds of random cases: fewer where an emulator is slow.
  func seeds(_ count: Int) -> Range<Int> { 0..<(isEmulated ? count / 4 : count) }

  /// The counts of threads to run with: one where each call waits for the emulator.
  func threads(_ counts: [Int]) -> [Int] { isEmulated ? Array(counts.prefix(1)) : counts }
}
