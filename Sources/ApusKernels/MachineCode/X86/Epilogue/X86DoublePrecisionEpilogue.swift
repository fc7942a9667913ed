// SPDX-License-Identifier: Apache-2.0

/// The layout of factors in double precision, for one rounding.
struct X86DoublePrecisionFactors {
  /// Doubles of all columns: two arrays.
  let scales: Int
  /// Vectors of one double each: the bounds without the zero point, the sign, and the double below one half.
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

/// From sums of bytes to outputs of 32 bits, in double precision.
extension X86EpilogueGenerator {
  /// Multiplies the sums of one vector of columns in double precision and rounds them to the nearest integer, halves away
  /// from zero, without the zero point.
  ///
  /// Adding the double below one half, with the sign of the product, and dropping the fraction rounds so for any double
  /// of such a size. The bounds are integers: it makes no difference that they come first.
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
        // The bound is the second source: what the instruction answers where the product is NaN.
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
