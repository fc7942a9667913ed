// SPDX-License-Identifier: Apache-2.0

/// Rescaling from one quantization to another, or only clamping: the difference from the zero point is
/// multiplied with two roundings, moved and clamped.
package struct Rescaling: Hashable, Sendable {
  /// The argument's zero point.
  package let zeroPoint: Int32
  /// How a result is computed from the difference from the zero point.
  package let output: QuantizedResult

  /// Describes a rescaling.
  package init(zeroPoint: Int32, output: QuantizedResult) {
    self.zeroPoint = zeroPoint
    self.output = output
  }

  /// The result for one value.
  @inline(__always)
  package func callAsFunction(_ value: Int32) -> Int32 { output(value &- zeroPoint) }

  /// The kernel for `count` values, and how it was chosen; nil if a type is not an integer of 8, 16 or 32 bits.
  package func choose(
    from source: ScalarType, to target: ScalarType, count: Int, using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel>? {
    switch (source, target) {
    case (.int8, .int8), (.int8, .uint8), (.uint8, .int8), (.uint8, .uint8):
      ByteTable(isSigned: source == .int8) { self($0) }.choose(count: count, using: set)
    case (.int8, .int16), (.uint8, .int16):
      (LookupTable.words(isSigned: source == .int8, count: count) { self($0) }, .plain)
    case (.int16, .int8): (UnaryMap(IntegerRescaling<Int16, Int8>(rescaling: self), count: count), .plain)
    case (.int16, .int16): (UnaryMap(IntegerRescaling<Int16, Int16>(rescaling: self), count: count), .plain)
    case (.int16, .int32): (UnaryMap(IntegerRescaling<Int16, Int32>(rescaling: self), count: count), .plain)
    case (.int32, .int8): (UnaryMap(IntegerRescaling<Int32, Int8>(rescaling: self), count: count), .plain)
    case (.int32, .int16): (UnaryMap(IntegerRescaling<Int32, Int16>(rescaling: self), count: count), .plain)
    default: nil
    }
  }
}

private struct IntegerRescaling<
  Argument: FixedWidthInteger & BitwiseCopyable & Sendable,
  Result: FixedWidthInteger & BitwiseCopyable & Sendable
>: UnaryFunction {
  let rescaling: Rescaling

  @inline(__always)
  func callAsFunction(_ value: Argument) -> Result {
    Result(truncatingIfNeeded: rescaling(Int32(truncatingIfNeeded: value)))
  }
}
