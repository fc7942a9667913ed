// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The layout of factors in double precision, for one rounding.
struct X86DoublePrecisionFactors {
  /// One double per column; they take two arrays.
  let scales: Int
  /// Constants, each repeated to fill a vector: the bounds minus the zero point, the sign bit, and the
  /// largest double below ½.
  let least: Int
  let most: Int
  let signs: Int
  let belowHalf: Int

  init(_ layout: X86FactorLayout) {
    scales = layout.array(0)
    least = layout.array(2)
    most = least + layout.vectorByteCount
    signs = most + layout.vectorByteCount
    belowHalf = signs + layout.vectorByteCount
  }

  /// Writes the factors.
  func fill(_ block: X86FactorBlock, _ factors: [Double], zeroPoint: Int32, minimum: Int32, maximum: Int32) {
    for offset in stride(from: 0, to: block.layout.vectorByteCount, by: 8) {
      block.store(Double(minimum &- zeroPoint), at: least + offset)
      block.store(Double(maximum &- zeroPoint), at: most + offset)
      block.store(-0.0 as Double, at: signs + offset)
      block.store((0.5 as Double).nextDown, at: belowHalf + offset)
    }
    block.forEachLane(factors) { lane, factor in block.store(factor, at: scales + 8 * lane) }
  }
}

/// The epilogue of bytes in double precision, up to 32-bit outputs.
extension X86EpilogueGenerator {
  /// Rescales one vector of columns in double precision and rounds to nearest, halves away from zero; the
  /// zero point is not added.
  ///
  /// Adding the largest double below ½, with the sign of the product, and truncating rounds exactly like that
  /// for any double of this magnitude. Clamping can come first, because the bounds are integers.
  func rescaleOnce(_ a: inout X86Assembler, vector: Int) {
    let layout = X86DoublePrecisionFactors(X86FactorLayout(target))
    let (low, half) = (free(0), free(1))
    let (extract, insert): (X86Assembler.Instruction, X86Assembler.Instruction) =
      target == .avx512 ? (.vextracti64x4, .vinserti64x4) : (.vextracti128, .vinserti128)
    for row in 0..<rowCount {
      let value = sum(row, vector)
      a.vector(.vcvtdq2pd, width, low, 0, value)
      a.vector(extract, width, value, 0, half, immediate: 1)
      a.vector(.vcvtdq2pd, width, value, 0, half)
      for (index, part) in [low, value].enumerated() {
        a.vector(
          .vmulpd, width, part, part, .init(.rdx, layout.scales + (2 * vector + index) * width.byteCount))
        // The bound is the second source, which the instruction returns if the product is NaN.
        a.vector(.vmaxpd, width, part, part, .init(.rdx, layout.least))
        a.vector(.vminpd, width, part, part, .init(.rdx, layout.most))
        a.vector(.vpand, width, half, part, .init(.rdx, layout.signs))
        a.vector(.vpor, width, half, half, .init(.rdx, layout.belowHalf))
        a.vector(.vaddpd, width, part, part, half)
        a.vector(.vcvttpd2dq, width, part, 0, part)
      }
      a.vector(insert, width, value, low, value, immediate: 1)
    }
  }
}
