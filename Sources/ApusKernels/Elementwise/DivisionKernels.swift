// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// A function of two numbers that takes longer than an indirect call.
package enum NumberFunction: Hashable, Sendable {
  /// A quotient clamped to bounds; integer quotients are truncated.
  case divide(minimum: Float, maximum: Float)
  /// A quotient rounded down, and the remainder of this division, which has the divisor's sign.
  case floorDivide, floorModulo
  /// A power. If an integer power overflows, the result is its low bits with `wraps`, otherwise the type's minimum.
  case power(wraps: Bool)
  case squaredDifference
  /// The angle of a point, given its ordinate first: `atan2`.
  case arcTangent
  case exclusiveOr, and, shiftRight
  /// A left shift of bits; 0 for counts below 0 and for counts of all bits or more.
  case shiftLeft
  /// Truth values: 1 if both operands, or at least one of them, are not 0.
  case logicalAnd, logicalOr
  /// The first operand if it is not negative, otherwise the product.
  case parametricRelu

  /// The kernel; nil for a type without one. Integer divisors must not be zero.
  package func kernel(_ type: ScalarType, _ shapes: BroadcastShapes) -> (any BinaryKernel)? {
    switch type {
    case .float32: floats(shapes)
    case .int8: integers(Int8.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    case .uint8: integers(UInt8.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    case .int16: integers(Int16.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    case .uint16: integers(UInt16.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    case .int32: integers(Int32.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    case .uint32: integers(UInt32.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    case .int64: integers(Int64.self).map { BroadcastBinary(ClosureBinary(body: $0), shapes) }
    default: nil
    }
  }

  /// The function as an operation of floats that kernel sets may have code for; nil if there is none.
  package var ofFloats: FloatOperation? {
    switch self {
    case .divide(let minimum, let maximum): FloatOperation(.divide, minimum: minimum, maximum: maximum)
    case .squaredDifference: FloatOperation(.squaredDifference)
    case .parametricRelu: FloatOperation(.parametricRelu)
    case .floorDivide, .floorModulo, .power, .arcTangent, .exclusiveOr, .and, .shiftRight, .shiftLeft,
      .logicalAnd, .logicalOr:
      nil
    }
  }

  private func floats(_ shapes: BroadcastShapes) -> (any BinaryKernel)? {
    func loop(_ body: @escaping @Sendable (Float, Float) -> Float) -> any BinaryKernel {
      BroadcastBinary(ClosureBinary(body: body), shapes)
    }
    return switch self {
    case .divide, .squaredDifference, .parametricRelu: ofFloats?.kernel(shapes)
    case .floorDivide: loop { Float((Double($0) / Double($1)).rounded(.down)) }
    case .floorModulo:
      loop {
        let rest = fmodf($0, $1)
        return rest != 0 && ($1 < 0) != (rest < 0) ? rest + $1 : rest
      }
    case .power: loop { powf($0, $1) }
    case .arcTangent: loop { atan2f($0, $1) }
    case .exclusiveOr, .and, .shiftRight, .shiftLeft, .logicalAnd, .logicalOr: nil
    }
  }

  private func integers<T: FixedWidthInteger & Sendable>(_ type: T.Type) -> (@Sendable (T, T) -> T)? {
    switch self {
    case .divide(let minimum, let maximum):
      let least = minimum > Float(Int32.min) ? T(clamping: Int(minimum)) : T.min
      let most = maximum < Float(Int32.max) ? T(clamping: Int(maximum)) : T.max
      return { min(max(Self.quotient($0, $1), least), most) }
    case .floorDivide:
      return {
        let quotient = Self.quotient($0, $1)
        let isExact = quotient &* $1 == $0
        return !isExact && ($0 < 0) != ($1 < 0) ? quotient &- 1 : quotient
      }
    case .floorModulo:
      return {
        let rest = $0 &- Self.quotient($0, $1) &* $1
        return rest != 0 && ($1 < 0) != (rest < 0) ? rest &+ $1 : rest
      }
    case .power(let wraps):
      if wraps { return { Self.wrappingPower($0, $1) } }
      return { Self.truncatedPower($0, $1) }
    case .squaredDifference: return { ($0 &- $1) &* ($0 &- $1) }
    case .exclusiveOr: return { $0 ^ $1 }
    case .and: return { $0 & $1 }
    case .shiftLeft: return { $1 < 0 ? 0 : $0 << $1 }
    case .shiftRight: return { $0 >> min(max($1, 0), T(T.bitWidth - 1)) }
    case .logicalAnd: return { $0 != 0 && $1 != 0 ? 1 : 0 }
    case .logicalOr: return { $0 != 0 || $1 != 0 ? 1 : 0 }
    case .arcTangent, .parametricRelu: return nil
    }
  }

  /// The truncated quotient; 0 for a divisor of 0. The minimum divided by −1 wraps.
  private static func quotient<T: FixedWidthInteger>(_ lhs: T, _ rhs: T) -> T {
    rhs == 0 ? 0 : lhs.dividedReportingOverflow(by: rhs).partialValue
  }

  private static func wrappingPower<T: FixedWidthInteger>(_ base: T, _ exponent: T) -> T {
    var (result, factor, rest) = (T(1), base, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result = result &* factor }
      factor = factor &* factor
      rest >>= 1
    }
    return result
  }

  private static func truncatedPower<T: FixedWidthInteger>(_ base: T, _ exponent: T) -> T {
    let power = pow(Double(base), Double(exponent))
    return power >= Double(T.min) && power < Double(T.max) + 1 ? T(power) : T.min
  }
}

/// A quotient of quantized values, in the reference's fixed point.
package struct QuantizedQuotient: Hashable, Sendable {
  private let lhsZeroPoint: Int32
  private let rhsZeroPoint: Int32
  private let output: QuantizedResult

  /// Describes the operation. The result's multiplier is the first operand's scale over the product of the second's and the
  /// result's.
  package init(lhsZeroPoint: Int32, rhsZeroPoint: Int32, output: QuantizedResult) {
    self.lhsZeroPoint = lhsZeroPoint
    self.rhsZeroPoint = rhsZeroPoint
    self.output = output
  }

  /// The kernel for `uint8`, `int8` or `int16`; nil for other types. Divisors must not be the zero point.
  package func kernel(_ type: ScalarType, _ shapes: BroadcastShapes) -> (any BinaryKernel)? {
    switch type {
    case .uint8: BroadcastBinary(closure(UInt8.self), shapes)
    case .int8: BroadcastBinary(closure(Int8.self), shapes)
    case .int16: BroadcastBinary(closure(Int16.self), shapes)
    default: nil
    }
  }

  private func closure<T: FixedWidthInteger & BitwiseCopyable & Sendable>(_ type: T.Type) -> ClosureBinary<
    T, T, T
  > {
    ClosureBinary { T(truncatingIfNeeded: self.quotient(Int32($0), Int32($1))) }
  }

  private func quotient(_ lhs: Int32, _ rhs: Int32) -> Int32 {
    var dividend = lhs &- lhsZeroPoint
    var divisor = rhs &- rhsZeroPoint
    if divisor < 0 {
      dividend = 0 &- dividend
      divisor = 0 &- divisor
    }
    let (inverse, shift) = FixedPointFunctions.reciprocal(divisor, integerBits: 31)
    let headroom = Int32((dividend ^ (dividend &>> 31)).leadingZeroBitCount) &- 1
    let unscaled = saturatingRoundingDoublingHighMultiply(dividend &<< headroom, inverse)
    let product = saturatingRoundingDoublingHighMultiply(unscaled, output.multiplier.value)
    let scaled = Self.shiftRight(product, headroom &+ shift &- output.multiplier.shift)
    return min(max(scaled &+ output.zeroPoint, output.minimum), output.maximum)
  }

  /// A rounding right shift as the reference computes it on x86, whose shifts use the low bits of the count alone.
  ///
  /// Small dividends have counts above 31. The reference rounds them to values other than the quotient.
  private static func shiftRight(_ value: Int32, _ count: Int32) -> Int32 {
    let bits = count & 63
    if bits < 32 { return roundingDivideByPowerOfTwo(value, bits) }
    return (value &>> (bits &- 32)) &+ (value >= 0 ? 1 : 0)
  }
}
