// SPDX-License-Identifier: Apache-2.0

/// Functions on 32-bit fixed-point numbers, bit for bit those of gemmlowp that the reference uses.
///
/// `Qn` is a number with `n` bits before its binary point and `31 − n` after it. A product of `Qm` and `Qn`
/// by `saturatingRoundingDoublingHighMultiply` is `Q(m + n)`.
package enum FixedPointFunctions {
  /// `eˣ` as Q0, for `x ≤ 0` given as Q5.
  static func exponential(_ x: Int32) -> Int32 {
    if x == 0 { return .max }
    let quarter: Int32 = 1 << 24
    let rest = (x & (quarter &- 1)) &- quarter
    var result = exponentialNearZero(rest &<< 5)
    let remainder = rest &- x
    // e^(−1/4), e^(−1/2), e^(−1) … e^(−16) as Q0, for each bit of the remainder.
    func apply(_ exponent: Int32, _ factor: Int32) {
      if remainder & 1 &<< (26 &+ exponent) != 0 {
        result = saturatingRoundingDoublingHighMultiply(result, factor)
      }
    }
    apply(-2, 1_672_461_947)
    apply(-1, 1_302_514_674)
    apply(0, 790_015_084)
    apply(1, 290_630_308)
    apply(2, 39_332_535)
    apply(3, 720_401)
    apply(4, 242)
    return result
  }

  /// `eˣ` for `x` in `-1/4..<0`, both as Q0: a Taylor polynomial around −1/8.
  private static func exponentialNearZero(_ value: Int32) -> Int32 {
    let expOfMinusEighth: Int32 = 1_895_147_668
    let third: Int32 = 715_827_883
    let x = value &+ 1 << 28
    let x2 = saturatingRoundingDoublingHighMultiply(x, x)
    let x3 = saturatingRoundingDoublingHighMultiply(x2, x)
    let x4 = saturatingRoundingDoublingHighMultiply(x2, x2)
    let cubic = saturatingRoundingDoublingHighMultiply(roundingDivideByPowerOfTwo(x4, 2) &+ x3, third)
    let tail = roundingDivideByPowerOfTwo(cubic &+ x2, 1)
    return expOfMinusEighth &+ saturatingRoundingDoublingHighMultiply(expOfMinusEighth, x &+ tail)
  }

  /// `1 / (1 + x)` for `x` in `0..<1`, both as Q0: Newton's division.
  static func reciprocalOfOnePlus(_ x: Int32) -> Int32 {
    let sum = Int64(x) &+ Int64(Int32.max)
    let halfDenominator = Int32(truncatingIfNeeded: (sum &+ (sum >= 0 ? 1 : -1)) / 2)
    // 48/17 and −32/17 as Q2.
    var result = 1_515_870_810 &+ saturatingRoundingDoublingHighMultiply(halfDenominator, -1_010_580_540)
    for _ in 0..<3 {
      let product = saturatingRoundingDoublingHighMultiply(halfDenominator, result)
      let error = 1 << 29 &- product
      result &+= saturatingShiftLeft(saturatingRoundingDoublingHighMultiply(result, error), 2)
    }
    return saturatingShiftLeft(result, 1)
  }

  /// The reciprocal of `x`, a positive number with `integerBits` bits before its binary point, as Q0 with the number
  /// of bits by which it must be shifted right.
  package static func reciprocal(_ x: Int32, integerBits: Int32) -> (value: Int32, shift: Int32) {
    let bits = UInt32(bitPattern: x)
    let headroom = Int32(bits.leadingZeroBitCount)
    let shifted = Int32(bitPattern: bits << UInt32(headroom) &- 1 << 31)
    return (reciprocalOfOnePlus(shifted), integerBits &- headroom)
  }

  /// `1 / √x` as a factor: a Q0 mantissa and a shift, to the left where it is positive; 0 counts as 1.
  static func inverseSquareRoot(_ x: Int32) -> (value: Int32, shift: Int32) {
    guard x > 1 else { return (.max, 0) }
    var input = x
    var shift: Int32 = 11
    while input >= 1 << 29 {
      input /= 4
      shift &+= 1
    }
    let pairs = (Int32(input.leadingZeroBitCount) &- 1) / 2 &- 1
    shift &-= pairs
    input = input &<< (2 &* pairs)
    // Newton's iteration in Q3, from 1.
    let half = roundingDivideByPowerOfTwo(input &>> 1, 1)
    let threeHalves: Int32 = 3 << 27
    var result: Int32 = 1 << 28
    for _ in 0..<5 {
      let square = saturatingRoundingDoublingHighMultiply(result, result)
      let cube = saturatingShiftLeft(saturatingRoundingDoublingHighMultiply(square, result), 6)
      let difference =
        saturatingRoundingDoublingHighMultiply(threeHalves, result)
        &- saturatingRoundingDoublingHighMultiply(half, cube)
      result = saturatingShiftLeft(difference, 3)
    }
    result = saturatingRoundingDoublingHighMultiply(result, 1_518_500_250)
    if shift < 0 {
      result = result &<< (0 &- shift)
      shift = 0
    }
    return (result, 0 &- shift)
  }

  /// `x · 2^exponent`, saturating.
  @inline(__always)
  static func saturatingShiftLeft(_ x: Int32, _ exponent: Int32) -> Int32 {
    let threshold: Int32 = 1 &<< (31 &- exponent) &- 1
    if x > threshold { return .max }
    return x < 0 &- threshold ? .min : x &<< exponent
  }

  /// `x · value · 2^(shift − 31)`, rounded twice.
  @inline(__always)
  static func multiply(_ x: Int32, _ value: Int32, shift: Int32) -> Int32 {
    let product = saturatingRoundingDoublingHighMultiply(x &<< max(shift, 0), value)
    return roundingDivideByPowerOfTwo(product, min(max(0 &- shift, 0), 31))
  }
}
