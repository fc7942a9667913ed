/// Functions on 16-bit fixed-point numbers, bit for bit those of gemmlowp on which the reference's integer LSTM relies.
///
/// `Qn` is a number with `n` bits before its binary point and `15 − n` after it.
enum WordFunctions {
  /// The logistic function of a Q3 number, as Q0.
  static func logistic(_ x: Int16) -> Int16 {
    if x == 0 { return 1 << 14 }
    let negative = x > 0 ? 0 &- x : x
    let result = reciprocalOfOnePlus(exponential(negative, integerBits: 3))
    return x > 0 ? result : .max &- result
  }

  /// The hyperbolic tangent of a number with `integerBits` bits before its binary point, 0 to 6, as Q0.
  static func tanh(_ x: Int16, integerBits: Int16) -> Int16 {
    if x == 0 { return 0 }
    let negative = x > 0 ? 0 &- x : x
    let result = quotientOfOneMinus(exponential(negative, integerBits: integerBits &+ 1))
    return x < 0 ? 0 &- result : result
  }

  /// `eˣ` as Q0, for `x ≤ 0`.
  private static func exponential(_ x: Int16, integerBits: Int16) -> Int16 {
    if x == 0 { return .max }
    let fractionBits = 15 &- integerBits
    if integerBits > 5, x < 0 &- (1 &<< (fractionBits &+ 5)) { return 0 }
    let quarter: Int16 = 1 &<< (fractionBits &- 2)
    let rest = (x & (quarter &- 1)) &- quarter
    var result = exponentialNearZero(saturatingShiftLeft(rest, integerBits))
    let remainder = rest &- x
    // e^(−1/4), e^(−1/2), e^(−1) … e^(−16) as Q0, for each bit of the remainder.
    func apply(_ exponent: Int16, _ factor: Int16) {
      if exponent < integerBits, remainder & 1 &<< (fractionBits &+ exponent) != 0 {
        result = multiply(result, factor)
      }
    }
    apply(-2, 25_520)
    apply(-1, 19_875)
    apply(0, 12_055)
    apply(1, 4_435)
    apply(2, 600)
    apply(3, 11)
    apply(4, 0)
    return result
  }

  /// `eˣ` for `x` in `-1/4..<0`, both as Q0: a Taylor polynomial around −1/8.
  private static func exponentialNearZero(_ value: Int16) -> Int16 {
    let expOfMinusEighth: Int16 = 28_918
    let third: Int16 = 10_923
    let x = value &+ 1 << 12
    let x2 = multiply(x, x)
    let x3 = multiply(x2, x)
    let x4 = multiply(x2, x2)
    let cubic = multiply(roundingDivide(x4, 2) &+ x3, third)
    let tail = roundingDivide(cubic &+ x2, 1)
    return saturatingAdd(expOfMinusEighth, multiply(expOfMinusEighth, x &+ tail))
  }

  /// `1 / (1 + x)` for `x` in `0..<1`, both as Q0.
  private static func reciprocalOfOnePlus(_ x: Int16) -> Int16 {
    saturatingShiftLeft(reciprocalOfHalfOfOnePlus(x), 1)
  }

  /// `(1 − x) / (1 + x)` for `x` in `0..<1`, both as Q0.
  private static func quotientOfOneMinus(_ x: Int16) -> Int16 {
    saturatingShiftLeft(reciprocalOfHalfOfOnePlus(x) &- 1 << 13, 2)
  }

  /// `2 / (1 + x)` as Q2: Newton's division.
  private static func reciprocalOfHalfOfOnePlus(_ x: Int16) -> Int16 {
    let sum = Int32(x) &+ Int32(Int16.max)
    let halfDenominator = Int16(truncatingIfNeeded: (sum &+ (sum >= 0 ? 1 : -1)) / 2)
    // 48/17 and −32/17 as Q2.
    var result: Int16 = 23_130 &+ multiply(halfDenominator, -15_420)
    for _ in 0..<3 {
      let product = multiply(halfDenominator, result)
      let error: Int16 = 1 << 13 &- product
      result = result &+ saturatingShiftLeft(multiply(result, error), 2)
    }
    return result
  }

  /// The product of two numbers of which one is Q0, in the other's format: rounded to nearest.
  @inline(__always)
  static func multiply(_ a: Int16, _ b: Int16) -> Int16 {
    if a == .min, b == .min { return .max }
    return Int16(truncatingIfNeeded: (Int32(a) &* Int32(b) &+ 1 << 14) &>> 15)
  }

  @inline(__always)
  private static func roundingDivide(_ x: Int16, _ exponent: Int16) -> Int16 {
    Int16(truncatingIfNeeded: roundingDivideByPowerOfTwo(Int32(x), Int32(exponent)))
  }

  @inline(__always)
  private static func saturatingAdd(_ a: Int16, _ b: Int16) -> Int16 {
    Int16(clamping: Int32(a) &+ Int32(b))
  }

  /// The same number with `exponent` bits less before the binary point; it saturates.
  @inline(__always)
  static func saturatingShiftLeft(_ x: Int16, _ exponent: Int16) -> Int16 {
    let threshold = Int16(truncatingIfNeeded: Int32(1) &<< (15 &- Int32(exponent)) &- 1)
    if x > threshold { return .max }
    return x < 0 &- threshold ? .min : x &<< exponent
  }
}
