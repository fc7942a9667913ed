// SPDX-License-Identifier: Apache-2.0

/// The functions of 16-bit fixed-point numbers by which gemmlowp computes gates, one number at a time, on wider integers.
package enum ReferenceWordFunctions {
  /// The logistic function of a number with three bits before its binary point.
  package static func logistic(_ x: Int16) -> Int16 {
    if x == 0 { return 1 << 14 }
    let result = shiftLeft(inverse(exponential(x > 0 ? -Int(x) : Int(x), integerBits: 3)), 1)
    return Int16(x > 0 ? result : 32767 - result)
  }

  /// The hyperbolic tangent of a number with `integerBits` bits before its binary point.
  package static func tanh(_ x: Int16, integerBits: Int) -> Int16 {
    if x == 0 { return 0 }
    let power = exponential(x > 0 ? -Int(x) : Int(x), integerBits: integerBits + 1)
    let result = shiftLeft(inverse(power) - 8192, 2)
    return Int16(x < 0 ? -result : result)
  }

  private static func exponential(_ x: Int, integerBits: Int) -> Int {
    if x == 0 { return 32767 }
    let fractionBits = 15 - integerBits
    if integerBits > 5, x < -(1 << (fractionBits + 5)) { return 0 }
    let quarter = 1 << (fractionBits - 2)
    let rest = (x & (quarter - 1)) - quarter
    let near = shiftLeft(rest, integerBits) + 4096
    let (x2, x3) = (multiply(near, near), multiply(multiply(near, near), near))
    let x4 = multiply(x2, x2)
    let cubic = multiply(divide(x4, 4) + x3, 10_923)
    var result = min(28_918 + multiply(28_918, near + divide(cubic + x2, 2)), 32767)
    let factors = [25_520, 19_875, 12_055, 4_435, 600, 11, 0]
    for (index, factor) in factors.enumerated() where index - 2 < integerBits {
      if (rest - x) & 1 << (fractionBits + index - 2) != 0 { result = multiply(result, factor) }
    }
    return result
  }

  /// `2 / (1 + x)` with two bits before its binary point.
  private static func inverse(_ x: Int) -> Int {
    let half = (x + 32768) / 2
    var result = 23_130 + multiply(half, -15_420)
    for _ in 0..<3 { result += shiftLeft(multiply(result, 8192 - multiply(half, result)), 2) }
    return result
  }

  private static func multiply(_ a: Int, _ b: Int) -> Int { min((a * b + 1 << 14) >> 15, 32767) }

  /// A quotient, halves away from zero.
  private static func divide(_ x: Int, _ divisor: Int) -> Int {
    (x + (x < 0 ? -divisor / 2 : divisor / 2)) / divisor
  }

  private static func shiftLeft(_ x: Int, _ bits: Int) -> Int { min(max(x << bits, -32768), 32767) }
}
