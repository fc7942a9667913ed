// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A function of `int16` values that ``X86WordProgram`` generates.
enum X86WordFunction {
  case logistic
  /// Hyperbolic tangent of numbers with `integerBits` bits before the binary point, 0 to 6.
  case tangent(integerBits: Int)
}

/// Generates ``WordFunctions`` for vectors of `int16`.
///
/// The steps are equal. Selections become masks from a bit shifted across its lane, and saturating shifts
/// become saturating additions. `vpmulhrsw` multiplies and rounds; it never needs to saturate, because no two
/// factors are both −2¹⁵.
struct X86WordProgram {
  typealias Value = X86VectorProgram.Value

  private(set) var steps = X86VectorProgram()

  /// Writes a function of the first input.
  mutating func write(_ function: X86WordFunction) -> Value {
    let x = steps.input()
    let opposite = subtract(constant(0), x)
    let negative = steps.words(.vpminsw, x, opposite)
    let sign = shift(x, .right, by: 15)
    // All ones if `x` is not zero.
    let isSome = shift(steps.or(x, .value(opposite)), .right, by: 15)
    switch function {
    case .logistic:
      let half = doubled(reciprocalOfHalfOfOnePlus(exponential(negative, integerBits: 3)), times: 1)
      // For negative `x`, one minus the value at −x.
      let result = steps.xor(half, .value(steps.and(sign, .value(constant(.max)))))
      let atZero = constant(1 << 14)
      return steps.xor(steps.and(steps.xor(result, .value(atZero)), .value(isSome)), .value(atZero))
    case .tangent(let integerBits):
      let reciprocal = reciprocalOfHalfOfOnePlus(exponential(negative, integerBits: integerBits + 1))
      let magnitude = doubled(subtract(reciprocal, constant(1 << 13)), times: 2)
      let result = subtract(steps.xor(magnitude, .value(sign)), sign)
      return steps.and(result, .value(isSome))
    }
  }

  /// `eˣ` for `x < 0`.
  private mutating func exponential(_ x: Value, integerBits: Int) -> Value {
    let fractionBits = 15 - integerBits
    let quarter = Int16(1) << Int16(fractionBits - 2)
    let rest = subtract(steps.and(x, .value(constant(quarter - 1))), constant(quarter))
    let remainder = subtract(rest, x)
    var result = exponentialNearZero(doubled(rest, times: integerBits))
    for (factor, exponent) in [
      (25_520, -2), (19_875, -1), (12_055, 0), (4_435, 1), (600, 2), (11, 3), (0, 4),
    ]
    where exponent < integerBits {
      let bit = fractionBits + exponent
      let mask = shift(shift(remainder, .left, by: UInt8(15 - bit)), .right, by: 15)
      let product = multiply(result, constant(Int16(factor)))
      let change = steps.and(steps.xor(result, .value(product)), .value(mask))
      result = steps.xor(result, .value(change))
    }
    if integerBits > 5 {
      let isBelow = shift(add(x, constant(Int16(1) << Int16(fractionBits + 5))), .right, by: 15)
      result = steps.xor(result, .value(steps.and(result, .value(isBelow))))
    }
    return result
  }

  private mutating func exponentialNearZero(_ value: Value) -> Value {
    let expOfMinusEighth = constant(28_918)
    let x = add(value, constant(1 << 12))
    let x2 = multiply(x, x)
    let x3 = multiply(x2, x)
    let x4 = multiply(x2, x2)
    let cubic = multiply(add(roundingDivide(x4, by: 2), x3), constant(10_923))
    let tail = roundingDivide(add(cubic, x2), by: 1)
    return steps.words(.vpaddsw, multiply(expOfMinusEighth, add(x, tail)), expOfMinusEighth)
  }

  private mutating func reciprocalOfHalfOfOnePlus(_ x: Value) -> Value {
    let halfDenominator = shift(add(x, constant(.min)), .rightUnsigned, by: 1)
    var result = add(multiply(halfDenominator, constant(-15_420)), constant(23_130))
    for _ in 0..<3 {
      let error = subtract(constant(1 << 13), multiply(halfDenominator, result))
      result = add(result, doubled(multiply(result, error), times: 2))
    }
    return result
  }

  /// `x / 2^exponent` rounded to nearest, halves away from zero: subtracts one from negative numbers, then
  /// rounds halves up.
  private mutating func roundingDivide(_ x: Value, by exponent: UInt8) -> Value {
    let moved = add(x, shift(x, .right, by: 15))
    let half = steps.and(
      exponent > 1 ? shift(moved, .right, by: exponent - 1) : moved, .value(constant(1)))
    return add(shift(moved, .right, by: exponent), half)
  }

  private mutating func doubled(_ x: Value, times count: Int) -> Value {
    (0..<count).reduce(x) { value, _ in steps.words(.vpaddsw, value, value) }
  }

  private mutating func add(_ first: Value, _ second: Value) -> Value { steps.words(.vpaddw, first, second) }
  private mutating func subtract(_ first: Value, _ second: Value) -> Value {
    steps.words(.vpsubw, first, second)
  }
  private mutating func multiply(_ first: Value, _ second: Value) -> Value {
    steps.words(.vpmulhrsw, first, second)
  }
  private mutating func shift(_ x: Value, _ way: X86VectorProgram.WordShift, by count: UInt8) -> Value {
    steps.shiftWords(x, way, by: count)
  }
  /// A constant in a register: 16-bit instructions have no broadcast from memory.
  private mutating func constant(_ word: Int16) -> Value {
    steps.constant(UInt32(UInt16(bitPattern: word)) &* 0x1_0001)
  }
}
