// SPDX-License-Identifier: Apache-2.0

/// An addition, subtraction or multiplication of two numbers, whose result is clamped.
package enum ArithmeticOperation: Hashable, Sendable {
  case add, subtract, multiply
}

extension ArithmeticOperation {
  /// The corresponding operation on floats.
  package var ofFloats: FloatOperation.Kind {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    }
  }

  /// The kernel for unquantized integers, whose overflow wraps; nil for other types.
  package func integers(
    _ type: ScalarType, minimum: Int, maximum: Int, _ shapes: BroadcastShapes
  ) -> (any BinaryKernel)? {
    switch type {
    case .int8: integers(ScalarBounds<Int8>(clamping: minimum, maximum), shapes)
    case .uint8: integers(ScalarBounds<UInt8>(clamping: minimum, maximum), shapes)
    case .uint16: integers(ScalarBounds<UInt16>(clamping: minimum, maximum), shapes)
    case .int16: integers(ScalarBounds<Int16>(clamping: minimum, maximum), shapes)
    case .int32: integers(ScalarBounds<Int32>(clamping: minimum, maximum), shapes)
    case .uint32: integers(ScalarBounds<UInt32>(clamping: minimum, maximum), shapes)
    case .int64: integers(ScalarBounds<Int64>(clamping: minimum, maximum), shapes)
    default: nil
    }
  }

  @inline(__always)
  private func integers<T: FixedWidthInteger & BitwiseCopyable & Sendable>(
    _ bounds: ScalarBounds<T>, _ shapes: BroadcastShapes
  ) -> any BinaryKernel {
    switch self {
    case .add: BroadcastBinary(IntegerSum(bounds: bounds), shapes)
    case .subtract: BroadcastBinary(IntegerDifference(bounds: bounds), shapes)
    case .multiply: BroadcastBinary(IntegerProduct(bounds: bounds), shapes)
    }
  }
}

/// The bounds that values are clamped to; NaN passes.
package struct ScalarBounds<T: Comparable & BitwiseCopyable & Sendable>: Sendable {
  let minimum: T
  let maximum: T

  /// The value clamped to the bounds; NaN passes.
  @inline(__always)
  package func clamp(_ value: T) -> T {
    let above = value < minimum ? minimum : value
    return maximum < above ? maximum : above
  }
}

extension ScalarBounds where T: FixedWidthInteger {
  /// Bounds clamped to the type's range.
  init(clamping minimum: Int, _ maximum: Int) {
    self.init(minimum: T(clamping: minimum), maximum: T(clamping: maximum))
  }
}

private struct IntegerSum<T: FixedWidthInteger & BitwiseCopyable & Sendable>: BinaryFunction {
  let bounds: ScalarBounds<T>

  @inline(__always)
  func callAsFunction(_ lhs: T, _ rhs: T) -> T { bounds.clamp(lhs &+ rhs) }
}

private struct IntegerDifference<T: FixedWidthInteger & BitwiseCopyable & Sendable>: BinaryFunction {
  let bounds: ScalarBounds<T>

  @inline(__always)
  func callAsFunction(_ lhs: T, _ rhs: T) -> T { bounds.clamp(lhs &- rhs) }
}

private struct IntegerProduct<T: FixedWidthInteger & BitwiseCopyable & Sendable>: BinaryFunction {
  let bounds: ScalarBounds<T>

  @inline(__always)
  func callAsFunction(_ lhs: T, _ rhs: T) -> T { bounds.clamp(lhs &* rhs) }
}
