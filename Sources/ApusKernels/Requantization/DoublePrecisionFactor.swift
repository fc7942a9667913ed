// SPDX-License-Identifier: Apache-2.0

/// A fixed-point factor with double rounding as a number in double precision, where all sums make the same output: the
/// product of a sum and `scale`, and `offset` with its sign, rounded to nearest.
///
/// With the factor `M / 2^(31+e)`, `M` from 2³⁰ on, the reference rounds `x·M / 2³¹` to an integer, halves up, and a 2^e-th of that,
/// halves away from zero. As the floor of a quotient does not depend on whether a fraction is taken off before, that is one
/// rounding for `x ≥ 0`: `⌊(x·M + 2³⁰ + 2^(30+e)) / 2^(31+e)⌋`, which is `x·scale + offset` rounded, halves up, with
/// `offset = 2^−(e+1)`. For negative sums it is the same with the other sign, halves toward zero.
///
/// - No output within 255 of the zero point is a half: `|x|·M` would be an odd multiple of 2³⁰ then. So `x` would be a multiple
///   of `2^(30−t)`, where `2^t` divides `M`, but is below `2^(9+e)` for such outputs.
/// - Nothing is rounded on the way to them: `x·scale` and its sum with the offset are multiples of `2^−(31+e)`, and below 2⁹ that
///   takes at most 53 digits. Larger sums may be rounded, which leaves them large.
package struct DoublePrecisionFactor {
  package let scale: Double
  package let offset: Double

  /// Nil for factors of which this is not shown.
  package init?(_ factor: FixedPointMultiplier) {
    let shift = Int(0 &- factor.shift)
    guard factor.value >= 1 << 30, 1...13 ~= shift, factor.value.trailingZeroBitCount + shift <= 21 else {
      return nil
    }
    scale = Double(sign: .plus, exponent: -31 - shift, significand: Double(factor.value))
    offset = Double(sign: .plus, exponent: -1 - shift, significand: 1)
  }
}
