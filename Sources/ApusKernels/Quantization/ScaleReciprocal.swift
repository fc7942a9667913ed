// SPDX-License-Identifier: Apache-2.0

/// The reciprocal of a scale in two parts, with which a product and a sum make the integers that a division makes: processors
/// with 512 bits divide a vector in the time of ten products.
///
/// A quotient so made differs from the rounded one by a unit of its last place at most, and rarely. So it is another integer
/// only next to halves, around which all floats are tried.
struct ScaleReciprocal: Hashable {
  let high: Float
  /// What `high` lacks.
  let low: Float

  /// Whether the search pays for `count` floats: it takes less time than a few runs gain. Vectors of 256 bits
  /// gain nothing, because divisions overlap with the steps around them.
  static func pays(count: Int, vectorByteCount: Int) -> Bool { count >= 1 << 13 && vectorByteCount == 64 }

  /// Floats around a half that are tried, on either side: quotients of others are further than two units away from it.
  private static let reach: Int32 = 4

  /// Nil where it would make another integer of some float.
  init?(of quantization: FloatQuantization) {
    let scale = quantization.scale
    // Neither the parts nor quotients near integers are too small or too large for all their bits.
    guard scale >= 0x1p-60, scale <= 0x1p60 else { return nil }
    let exact = 1 / Double(scale)
    high = Float(exact)
    low = Float(exact - Double(high))
    let (least, most) = (
      quantization.minimum - quantization.zeroPoint, quantization.maximum - quantization.zeroPoint
    )
    // Beyond the bounds integers are the same. Both signs have the same magnitudes.
    for step in 0...max(least.magnitude, most.magnitude) {
      guard isRight(near: Float(step) + 0.5, scale) else { return nil }
    }
    // From 2³¹ on, the result is another.
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
