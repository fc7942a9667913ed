// SPDX-License-Identifier: Apache-2.0

/// The reciprocal of a scale in two parts: a product and a fused multiply-add give the integers that a
/// division gives. Dividing 512 bits takes as long as ten products.
///
/// Such a quotient differs from the correctly rounded one by at most one ulp, and rarely. So it gives another
/// integer only next to halves, around which all floats are tried.
package struct ScaleReciprocal: Hashable, Sendable {
  /// The reciprocal, rounded to a float.
  package let high: Float
  /// The difference of the exact reciprocal and `high`.
  package let low: Float

  /// Whether the search pays for `count` floats: it takes less time than a few runs gain. Vectors of 256 bits
  /// gain nothing, because divisions overlap with the steps around them.
  static func pays(count: Int, vectorByteCount: Int) -> Bool { count >= 1 << 13 && vectorByteCount == 64 }

  /// The floats that are tried on each side of a half: the quotients of others are more than two ulps away
  /// from it.
  private static let reach: Int32 = 4

  /// Nil if some float would give another integer.
  init?(of quantization: FloatQuantization) {
    let scale = quantization.scale
    // With such scales, neither the parts nor quotients near integers overflow or lose bits.
    guard scale >= 0x1p-60, scale <= 0x1p60 else { return nil }
    let exact = 1 / Double(scale)
    high = Float(exact)
    low = Float(exact - Double(high))
    let (least, most) = (
      quantization.minimum - quantization.zeroPoint, quantization.maximum - quantization.zeroPoint
    )
    // Beyond the bounds integers are equal. Both signs have equal magnitudes.
    for step in 0...max(least.magnitude, most.magnitude) {
      guard isRight(near: Float(step) + 0.5, scale) else { return nil }
    }
    // From 2³¹ on, the result changes.
    guard isRight(near: 0x1p31, scale) else { return nil }
  }

  /// The quotient, or a float next to it.
  private func quotient(_ value: Float) -> Float { (value * low).addingProduct(value, high) }

  /// Whether floats around this quotient are on the right side of it.
  private func isRight(near limit: Float, _ scale: Float) -> Bool {
    let middle = Int32(bitPattern: (limit * scale).bitPattern)
    for bits in middle - Self.reach...middle + Self.reach {
      let value = Float(bitPattern: UInt32(bitPattern: bits))
      if (value / scale < limit) != (quotient(value) < limit) { return false }
    }
    return true
  }
}
