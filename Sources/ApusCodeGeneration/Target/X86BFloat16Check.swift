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
    var state: UInt32 = 1
    /// A random bit pattern (xorshift).
    func random() -> UInt32 {
      state ^= state &<< 13
      state ^= state &>> 17
      state ^= state &<< 5
      return state
    }
    // Exponents around one, where roundings differ; and products next to the least normal float.
    for (kept, sumExponent, rowExponent, columnExponent) in [
      (0x80FF as UInt32, 0x3F00_0000 as UInt32, 0x3F00 as UInt32, 0x3F00 as UInt32),
      (0x807F, 0x0080_0000, 0x1F80, 0x2080), (0x807F, 0x0100_0000, 0x2000, 0x1F80),
    ] {
      for _ in 0..<16 {
        var lanes = Lanes(sums: .zero, rows: .zero, columns: .zero)
        var expected = SIMD16<Float>()
        for lane in 0..<16 {
          lanes.sums[lane] = Float(bitPattern: random() & (kept &<< 16 | 0xFFFF) | sumExponent)
          lanes.rows[lane] = random() & (kept &* 0x1_0001) | rowExponent &* 0x1_0001
          lanes.columns[lane] = random() & (kept &* 0x1_0001) | columnExponent &* 0x1_0001
          func value(_ bits: UInt32, _ term: UInt32) -> Float {
            Float(bitPattern: term == 0 ? bits &<< 16 : bits & 0xFFFF_0000)
          }
          var sum = lanes.sums[lane]
          for term in [1, 0] as [UInt32] {
            sum = BFloat16Sum.adding(value(lanes.rows[lane], term), value(lanes.columns[lane], term), to: sum)
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
