// SPDX-License-Identifier: Apache-2.0

/// LEAKY_RELU of quantized values: negative differences from the zero point have their own factor.
package struct QuantizedLeakyRelu: Hashable, Sendable {
  /// The argument's zero point, and the rescaling of values that are not negative.
  package let positive: Rescaling
  /// The magnitude of the factor for negative values.
  package let negative: FixedPointMultiplier
  /// Whether the factor for negative values is negative.
  package let isNegated: Bool

  /// Describes the function.
  package init(positive: Rescaling, negative: FixedPointMultiplier, isNegated: Bool) {
    self.positive = positive
    self.negative = negative
    self.isNegated = isNegated
  }

  @inline(__always)
  fileprivate func callAsFunction(_ value: Int32) -> Int32 {
    let difference = value &- positive.zeroPoint
    if difference >= 0 { return positive(value) }
    let scaled = negative.apply(difference)
    let result = (isNegated ? 0 &- scaled : scaled) &+ positive.output.zeroPoint
    return min(max(result, positive.output.minimum), positive.output.maximum)
  }

  /// The results for bytes.
  package func bytes(isSigned: Bool) -> ByteTable { ByteTable(isSigned: isSigned) { self($0) } }

  /// The kernel for `int16`.
  package func words(count: Int) -> any UnaryKernel { UnaryMap(WordLeakyRelu(function: self), count: count) }
}

private struct WordLeakyRelu: UnaryFunction {
  let function: QuantizedLeakyRelu

  @inline(__always)
  func callAsFunction(_ value: Int16) -> Int16 { Int16(truncatingIfNeeded: function(Int32(value))) }
}

/// ABS of quantized `int16` values.
package struct QuantizedAbsolute: Hashable, Sendable {
  /// The zero points, the factor and the bounds.
  package let rescaling: Rescaling

  /// Describes the function.
  package init(_ rescaling: Rescaling) {
    self.rescaling = rescaling
  }

  @inline(__always)
  fileprivate func callAsFunction(_ value: Int32) -> Int32 {
    let difference = value &- rescaling.zeroPoint
    return rescaling.output(difference < 0 ? 0 &- difference : difference)
  }

  /// The results for `int8`.
  package var bytes: ByteTable { ByteTable(isSigned: true) { self($0) } }

  /// The kernel for `int16`.
  package func words(count: Int) -> any UnaryKernel { UnaryMap(WordAbsolute(function: self), count: count) }
}

private struct WordAbsolute: UnaryFunction {
  let function: QuantizedAbsolute

  @inline(__always)
  func callAsFunction(_ value: Int16) -> Int16 { Int16(truncatingIfNeeded: function(Int32(value))) }
}

/// `1 / √x` of quantized bytes, in the reference's fixed point.
package struct QuantizedInverseSquareRoot: Hashable, Sendable {
  private let rescaling: Rescaling

  /// Describes the function; the factor is `1 / (√inputScale · outputScale)`.
  package init(_ rescaling: Rescaling) {
    self.rescaling = rescaling
  }

  /// The result for one value; values below the zero point count as the zero point.
  package func callAsFunction(_ value: Int32) -> Int32 {
    let output = rescaling.output
    let difference = value &- rescaling.zeroPoint
    guard difference > 0 else { return output.maximum }
    let (root, shift) = FixedPointFunctions.inverseSquareRoot(difference)
    // 20 more bits keep the root an integer.
    let data = FixedPointFunctions.multiply(1, root, shift: shift &+ 20)
    let result = FixedPointFunctions.multiply(
      data, output.multiplier.value, shift: output.multiplier.shift &- 20)
    return min(max(result &+ output.zeroPoint, output.minimum), output.maximum)
  }
}

/// HARD_SWISH of quantized bytes, in the reference's 16-bit fixed point.
package struct QuantizedHardSwish: Hashable, Sendable {
  private let inputZeroPoint: Int32
  private let outputZeroPoint: Int32
  private let output: FixedPointMultiplier
  private let bounded: FixedPointMultiplier
  private let minimum: Int16
  private let maximum: Int16

  /// Describes the function; nil if the output's scale is below 1/128 of the input's.
  package init?(
    inputScale: Float, inputZeroPoint: Int32, outputScale: Float, outputZeroPoint: Int32,
    range: ClosedRange<Int>
  ) {
    self.inputZeroPoint = inputZeroPoint
    self.outputZeroPoint = outputZeroPoint
    // The argument is shifted left by seven bits, so its unit is 1/128 of the input's scale. The clamped value's unit is 3/2¹⁵.
    let fineScale: Float = 1 / 128 * inputScale
    output = FixedPointMultiplier(Double(fineScale / outputScale))
    bounded = FixedPointMultiplier(Double(fineScale / (3 / 32768)))
    minimum = Int16(clamping: range.lowerBound)
    maximum = Int16(clamping: range.upperBound)
    if output.shift > 0 { return nil }
  }

  /// The result for one value.
  package func callAsFunction(_ value: Int32) -> Int32 {
    let fine = Int16(truncatingIfNeeded: (value &- inputZeroPoint) &<< 7)
    let unshifted = Self.roundedHighProduct(fine, Self.upperHalf(output))
    var factor = fine
    if bounded.shift > 0 { factor = Self.saturatingShiftLeft(factor, bounded.shift &- 1) }
    factor = Self.roundedHighProduct(factor, Self.upperHalf(bounded))
    if bounded.shift > 0 { factor = Self.saturatingShiftLeft(factor, 1) }
    if bounded.shift < 0 {
      factor = Int16(truncatingIfNeeded: Self.roundedQuotient(factor, 0 &- bounded.shift))
    }
    factor = Int16(truncatingIfNeeded: (Int32(factor) &+ 1 << 15) &>> 1)
    // Truncation here offsets the bias of the roundings above; the factor is not negative, so nothing overflows.
    let product = Int32(factor) &* Int32(unshifted) / (1 << 15)
    let shifted = Self.roundedQuotient(Int16(truncatingIfNeeded: product), 0 &- output.shift)
    let result = Int16(truncatingIfNeeded: shifted &+ outputZeroPoint)
    return Int32(min(max(result, minimum), maximum))
  }

  /// The reference divides in 16 bits: for 2¹⁶ and more its mask is −1, and the result is the sign, or 1 for
  /// zero.
  private static func roundedQuotient(_ x: Int16, _ exponent: Int32) -> Int32 {
    exponent < 16 ? roundingDivideByPowerOfTwo(Int32(x), exponent) : x < 0 ? -1 : 1
  }

  private static func upperHalf(_ multiplier: FixedPointMultiplier) -> Int16 {
    Int16(clamping: (Int64(multiplier.value) &+ 1 << 15) &>> 16)
  }

  private static func saturatingShiftLeft(_ value: Int16, _ amount: Int32) -> Int16 {
    Int16(clamping: Int64(value) &<< Int64(amount))
  }

  private static func roundedHighProduct(_ a: Int16, _ b: Int16) -> Int16 {
    if a == .min, b == .min { return .max }
    let product = Int32(a) &* Int32(b)
    let nudge: Int32 = product >= 0 ? 1 << 14 : 1 &- 1 << 14
    return Int16(truncatingIfNeeded: (product &+ nudge) / (1 << 15))
  }
}

/// Functions of quantized `int16` values by the reference's table of 513 values.
package enum WordFunction {
  /// The kernel of a real function between two quantizations.
  package static func kernel(
    inputScale: Float, inputZeroPoint: Int32, outputScale: Float, outputZeroPoint: Int32, count: Int,
    _ function: (Float) -> Float
  ) -> any UnaryKernel {
    let table = WordTable(
      inputScale: inputScale, inputZeroPoint: Int(inputZeroPoint), outputScale: outputScale,
      outputZeroPoint: Int(outputZeroPoint), function)
    return UnaryMap(WordLookup(table: table), count: count)
  }
}

private struct WordLookup: UnaryFunction {
  let table: WordTable

  @inline(__always)
  func callAsFunction(_ value: Int16) -> Int16 { table[value] }
}

/// √x of quantized `int16` values, truncated as in the reference.
package struct QuantizedSquareRoot: Hashable, Sendable {
  private let inputScale: Float
  private let inputZeroPoint: Int32
  private let outputScale: Float
  private let outputZeroPoint: Int32
  private let range: ClosedRange<Int>

  /// Describes the function.
  package init(
    inputScale: Float, inputZeroPoint: Int32, outputScale: Float, outputZeroPoint: Int32,
    range: ClosedRange<Int>
  ) {
    self.inputScale = inputScale
    self.inputZeroPoint = inputZeroPoint
    self.outputScale = outputScale
    self.outputZeroPoint = outputZeroPoint
    self.range = range
  }

  /// The result for one value; values below the zero point count as the zero point.
  package func callAsFunction(_ value: Int32) -> Int32 {
    let real = inputScale * Float(value &- inputZeroPoint)
    let steps = (real > 0 ? real : 0).squareRoot() / outputScale
    let integer = steps < 0x1p31 ? Int(steps) : Int(Int32.min)
    return Int32(min(max(integer + Int(outputZeroPoint), range.lowerBound), range.upperBound))
  }

  /// The kernel for `int16`.
  package func words(count: Int) -> any UnaryKernel {
    UnaryMap(ClosureFunction<Int16, Int16> { Int16(truncatingIfNeeded: self(Int32($0))) }, count: count)
  }
}
