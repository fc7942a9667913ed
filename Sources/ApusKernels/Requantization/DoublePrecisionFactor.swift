// SPDX-License-Identifier: Apache-2.0

/// A fixed-point factor with double rounding as a `Double` that gives the same output for every sum: `sum ·
/// scale`, plus `offset` with the product's sign, rounded to nearest.
///
/// With the factor `M / 2^(31+e)` and `M` from 2³⁰ on, the reference rounds `x·M / 2³¹` to an integer, halves
/// up, then divides by 2^e and rounds, halves away from zero. The floor of a quotient does not depend on
/// whether a fraction was dropped before. So for `x ≥ 0` both are one rounding: `⌊(x·M + 2³⁰ + 2^(30+e)) /
/// 2^(31+e)⌋`. This is `x·scale + offset` with `offset = 2^−(e+1)`, rounded with halves up. For negative sums
/// the signs change, and halves are rounded toward zero.
///
/// - No output within 255 of the zero point is a half: otherwise `|x|·M` would be an odd multiple of 2³⁰.
///   Then `x` would be a multiple of `2^(30−t)`, where `2^t` divides `M`, but for such outputs it is below
///   `2^(9+e)`.
/// - Nothing is rounded on the way: `x·scale` and its sum with the offset are multiples of `2^−(31+e)`, and
///   below 2⁹ that takes at most 53 bits. Larger sums may be rounded, which leaves them large.
package struct DoublePrecisionFactor {
  package let scale: Double
  package let offset: Double

  /// Nil for factors that the proof does not cover.
  package init?(_ factor: FixedPointMultiplier) {
    let shift = Int(0 &- factor.shift)
    guard factor.value >= 1 << 30, 1...13 ~= shift, factor.value.trailingZeroBitCount + shift <= 21 else {
      return nil
    }
    scale = Double(sign: .plus, exponent: -31 - shift, significand: Double(factor.value))
    offset = Double(sign: .plus, exponent: -1 - shift, significand: 1)
  }
}
