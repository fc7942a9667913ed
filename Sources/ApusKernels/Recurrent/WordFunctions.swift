// SPDX-License-Identifier: Apache-2.0

/// Functions on 16-bit fixed-point numbers, eight at once, bit for bit those of gemmlowp that the reference's
/// integer LSTM uses.
///
/// `Qn` is a number with `n` bits before its binary point and `15 − n` after it.
enum WordFunctions {
  typealias Words = SIMD8<Int16>

  /// The logistic function of Q3 numbers, as Q0.
  @inline(__always)
  static func logistic(_ x: Words) -> Words {
    let isPositive = x .> Words()
    let negative = x.replacing(with: Words() &- x, where: isPositive)
    let result = saturatingShiftLeft(
      reciprocalOfHalfOfOnePlus(exponential(negative, integerBits: 3)), 1)
    let signed = (Words(repeating: .max) &- result).replacing(with: result, where: isPositive)
    return signed.replacing(with: Words(repeating: 1 << 14), where: x .== Words())
  }

  /// The hyperbolic tangent of numbers with `integerBits` bits before their binary point, 0 to 6, as Q0.
  @inline(__always)
  static func tanh(_ x: Words, integerBits: Int16) -> Words {
    let negative = x.replacing(with: Words() &- x, where: x .> Words())
    // (1 − e) / (1 + e)
    let result = saturatingShiftLeft(
      reciprocalOfHalfOfOnePlus(exponential(negative, integerBits: integerBits &+ 1))
        &- Words(repeating: 1 << 13), 2)
    let signed = result.replacing(with: Words() &- result, where: x .< Words())
    return signed.replacing(with: Words(), where: x .== Words())
  }

  /// `eˣ` as Q0, for `x ≤ 0`.
  @inline(__always)
  private static func exponential(_ x: Words, integerBits: Int16) -> Words {
    let fractionBits = 15 &- integerBits
    let quarter = Words(repeating: 1 &<< (fractionBits &- 2))
    let rest = (x & (quarter &- Words(repeating: 1))) &- quarter
    let remainder = rest &- x
    var result = exponentialNearZero(saturatingShiftLeft(rest, integerBits))
    // e^(−1/4), e^(−1/2), e^(−1) … e^(−16) as Q0, for each bit of the remainder.
    let place = (remainder, fractionBits, integerBits)
    apply(25_520, exponent: -2, place, to: &result)
    apply(19_875, exponent: -1, place, to: &result)
    apply(12_055, exponent: 0, place, to: &result)
    apply(4_435, exponent: 1, place, to: &result)
    apply(600, exponent: 2, place, to: &result)
    apply(11, exponent: 3, place, to: &result)
    apply(0, exponent: 4, place, to: &result)
    if integerBits > 5 {
      let least = Words(repeating: 0 &- (1 &<< (fractionBits &+ 5)))
      result.replace(with: Words(), where: x .< least)
    }
    return result.replacing(with: Words(repeating: .max), where: x .== Words())
  }

  /// Multiplies by a power of e if the remainder has the bit of that exponent.
  @inline(__always)
  private static func apply(
    _ factor: Int16, exponent: Int16, _ place: (remainder: Words, fractionBits: Int16, integerBits: Int16),
    to result: inout Words
  ) {
    guard exponent < place.integerBits else { return }
    let bit = Words(repeating: 1 &<< (place.fractionBits &+ exponent))
    let product = multiply(result, Words(repeating: factor))
    result.replace(with: product, where: (place.remainder & bit) .!= Words())
  }

  /// `eˣ` for `x` in `-1/4..<0`, both as Q0: a Taylor polynomial around −1/8.
  @inline(__always)
  private static func exponentialNearZero(_ value: Words) -> Words {
    let expOfMinusEighth = Words(repeating: 28_918)
    let third = Words(repeating: 10_923)
    let x = value &+ Words(repeating: 1 << 12)
    let x2 = multiply(x, x)
    let x3 = multiply(x2, x)
    let x4 = multiply(x2, x2)
    let cubic = multiply(roundingDivide(x4, 2) &+ x3, third)
    let tail = roundingDivide(cubic &+ x2, 1)
    let product = multiply(expOfMinusEighth, x &+ tail)
    return Words(saturating: SIMD8<Int32>(widening: expOfMinusEighth) &+ SIMD8<Int32>(widening: product))
  }

  /// `2 / (1 + x)` as Q2, for `x` in `0..<1`: Newton's division.
  @inline(__always)
  private static func reciprocalOfHalfOfOnePlus(_ x: Words) -> Words {
    // (x + 2¹⁵ − 1) / 2, rounded up.
    let sum = SIMD8<UInt16>(bits: x) &+ SIMD8(repeating: 0x8000)
    let halfDenominator = Words(bits: sum &>> SIMD8(repeating: 1))
    // 48/17 and −32/17 as Q2.
    var result = Words(repeating: 23_130) &+ multiply(halfDenominator, Words(repeating: -15_420))
    for _ in 0..<3 {
      let error = Words(repeating: 1 << 13) &- multiply(halfDenominator, result)
      result = result &+ saturatingShiftLeft(multiply(result, error), 2)
    }
    return result
  }

  /// The high half of `2ab`, rounded, halves up; saturates at the one overflow.
  @inline(__always)
  static func multiply(_ a: Words, _ b: Words) -> Words {
    let products = SIMD8<Int32>(widening: a) &* SIMD8<Int32>(widening: b)
    return Words(saturating: (products &+ SIMD8(repeating: 1 << 14)) &>> SIMD8(repeating: 15))
  }

  /// `x / 2^exponent` rounded to nearest, halves away from zero.
  @inline(__always)
  static func roundingDivide(_ x: Words, _ exponent: Int16) -> Words {
    let mask: Int16 = 1 &<< exponent &- 1
    // `x >> 15` is −1 for negative x: subtracting it raises the threshold.
    let thresholds = Words(repeating: mask &>> 1) &- (x &>> Words(repeating: 15))
    let quotients = x &>> Words(repeating: exponent)
    return quotients.replacing(
      with: quotients &+ Words(repeating: 1), where: (x & Words(repeating: mask)) .> thresholds)
  }

  /// The numbers with `exponent` fewer bits before the binary point; saturates.
  @inline(__always)
  static func saturatingShiftLeft(_ x: Words, _ exponent: Int16) -> Words {
    let threshold = Int16(truncatingIfNeeded: Int32(1) &<< (15 &- Int32(exponent)) &- 1)
    var result = x &<< Words(repeating: exponent)
    result.replace(with: Words(repeating: .max), where: x .> Words(repeating: threshold))
    result.replace(with: Words(repeating: .min), where: x .< Words(repeating: 0 &- threshold))
    return result
  }
}
