// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// A test of the processor: whether `vdpbf16ps` makes the sums of `BFloat16Sum`.
///
/// Intel documents their order and roundings; other processors may differ. The test takes a microsecond, once, when the
/// instruction is first wanted.
enum X86BFloat16Check {
  /// Throws unless the processor's sums are those that are defined.
  static func requireDefinedSums() throws(Decline) {
    guard CPUFeatures.current.contains(.avx512BF16) else {
      throw Decline("vdpbf16ps: the machine has no AVX-512 BF16")
    }
    try check.require("vdpbf16ps") { () throws(Decline) in try sumsAreDefined() }
  }

  /// One addition of products in 16 lanes: sums, then pairs of rows and of columns.
  private struct Lanes: CodeArguments {
    var sums: SIMD16<Float>
    var rows: SIMD16<UInt32>
    var columns: SIMD16<UInt32>
  }

  private struct Generator: CodeGenerator, Hashable {
    func generate() -> [UInt8]? {
      var a = X86Assembler(encoding: .evex)
      for register in 0..<3 { a.vector(.vmovups, .zmm, register, 0, .init(.rdi, 64 * register)) }
      a.vector(.vdpbf16ps, .zmm, 0, 1, 2)
      a.vector(.vmovupsStore, .zmm, 0, 0, .init(.rdi))
      a.zeroUpper()
      a.return()
      return a.finish()
    }
  }

  private static let check = ProcessorCheck()

  private static func sumsAreDefined() throws(Decline) -> Bool {
    let function = try unsafe CodeFunction<Lanes>(Generator())
    ExecutableMemory.seal()
    for var operands in CheckedOperands.kinds {
      for _ in 0..<16 {
        var lanes = Lanes(sums: .zero, rows: .zero, columns: .zero)
        var expected = SIMD16<Float>()
        for lane in 0..<16 {
          let (row, column) = (operands.row(), operands.column())
          (lanes.rows[lane], lanes.columns[lane]) = (row, column)
          lanes.sums[lane] = Float(bitPattern: operands.sum())
          var sum = lanes.sums[lane]
          for term in [1, 0] {
            sum = BFloat16Sum.adding(
              CheckedOperands.value(row, term), CheckedOperands.value(column, term), to: sum)
          }
          expected[lane] = sum
        }
        function.call(&lanes)
        let differ =
          unsafe unsafeBitCast(lanes.sums, to: SIMD16<UInt32>.self)
          .!= unsafeBitCast(expected, to: SIMD16<UInt32>.self)
        if any(differ) { return false }
      }
    }
    return true
  }
}
