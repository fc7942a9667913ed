// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusConsole
import ApusKernels

/// An instruction that multiplies and adds, and how fast this machine can issue it.
///
/// The measured loop contains only that instruction, on registers, with enough sums for its latency: no
/// kernel can be faster.
enum InstructionPeak: CaseIterable, Hashable {
  case vpdpbusd512
  case vpdpbusd256
  case vpmaddwd256
  case fma512
  case fma256

  /// The name for people.
  var name: String {
    switch self {
    case .vpdpbusd512: "vpdpbusd zmm"
    case .vpdpbusd256: "vpdpbusd ymm"
    case .vpmaddwd256: "vpmaddwd + vpaddd ymm"
    case .fma512: "vfmadd231ps zmm"
    case .fma256: "vfmadd231ps ymm"
    }
  }

  /// Whether it multiplies floats; the others multiply bytes.
  var isFloat: Bool { self == .fma512 || self == .fma256 }

  /// The features that the machine needs.
  var requires: CPUFeatures {
    switch self {
    case .vpdpbusd512, .fma512: [.generatedCode, .avx512VNNI]
    case .vpdpbusd256: [.generatedCode, .avxVNNI]
    case .vpmaddwd256, .fma256: [.generatedCode, .avx2]
    }
  }

  /// Multiply-accumulates of one instruction.
  private var products: Int {
    switch self {
    case .vpdpbusd512: 64
    case .vpdpbusd256: 32
    case .vpmaddwd256, .fma512: 16
    case .fma256: 8
    }
  }

  /// 10⁹ multiply-accumulates per second on one thread; nil if this machine lacks the instruction.
  func measure() -> Double? {
    #if arch(x86_64)
      guard CPUFeatures.current.isSuperset(of: requires) else { return nil }
      let loop = loop()
      guard let bytes = loop.code, let place = unsafe ExecutableMemory.place(bytes) else { return nil }
      typealias Function = @convention(c) (Int) -> Void
      let function = unsafe unsafeBitCast(place, to: Function.self)
      let rounds = 20_000
      // The best of many: the clock speeds up during the first ones, and some may be interrupted.
      let best = (0..<60).map { _ in milliseconds { function(rounds) } }.min() ?? .infinity
      return Double(loop.products * rounds) / best / 1e6
    #else
      return nil
    #endif
  }

  /// `void f(int64T rounds)`, and the multiply-accumulates of a round.
  private func loop() -> (code: [UInt8]?, products: Int) {
    var code = X86Assembler(encoding: self == .vpdpbusd512 || self == .fma512 ? .evex : .vex)
    let width: X86Assembler.Width = code.encoding == .evex ? .zmm : .ymm
    let registers = code.encoding == .evex ? 32 : 16
    for register in 0..<registers { code.zeroVector(register, width) }
    // The last two registers are the operands, others may be products that wait to be added.
    let (first, second) = (registers - 2, registers - 1)
    let sums = self == .vpmaddwd256 ? 10 : code.encoding == .evex ? 24 : 12
    let head = code.loopHead(alignment: 64)
    for _ in 0..<2 {
      for sum in 0..<sums {
        switch self {
        case .vpdpbusd512, .vpdpbusd256: code.vector(.vpdpbusd, width, sum, first, second)
        case .fma512, .fma256: code.vector(.vfmadd231ps, width, sum, first, second)
        case .vpmaddwd256:
          let product = sums + sum % 4
          code.vector(.vpmaddwd, width, product, first, second)
          code.vector(.vpaddd, width, sum, sum, product)
        }
      }
    }
    code.decrement(.rdi)
    code.jump(.notEqual, head)
    code.zeroUpper()
    code.return()
    return (code.finish(), 2 * sums * products)
  }
}
