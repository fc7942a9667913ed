// SPDX-License-Identifier: Apache-2.0

/// The maximum or the minimum of two elements; the second if they are unordered.
package enum Extremum: Hashable, Sendable {
  case maximum, minimum

  /// The corresponding operation on floats, which kernel sets may have code for.
  package var ofFloats: FloatOperation { FloatOperation(self == .maximum ? .maximum : .minimum) }

  /// The kernel for elements of a type, in plain Swift.
  package func kernel(_ type: ScalarType, _ shapes: BroadcastShapes) -> any BinaryKernel {
    switch type {
    case .float32: ofFloats.kernel(shapes)
    case .int8: kernel(Int8.self, shapes)
    case .uint8: kernel(UInt8.self, shapes)
    case .int16: kernel(Int16.self, shapes)
    case .uint16: kernel(UInt16.self, shapes)
    case .int32: kernel(Int32.self, shapes)
    case .uint32: kernel(UInt32.self, shapes)
    case .int64: kernel(Int64.self, shapes)
    default: type.isNotTaken()
    }
  }

  @inline(__always)
  private func kernel<T: Comparable & BitwiseCopyable & Sendable>(
    _ type: T.Type, _ shapes: BroadcastShapes
  ) -> any BinaryKernel {
    switch self {
    case .maximum: BroadcastBinary(Greater<T>(), shapes)
    case .minimum: BroadcastBinary(Lesser<T>(), shapes)
    }
  }
}

private struct Greater<T: Comparable & BitwiseCopyable & Sendable>: BinaryFunction {
  @inline(__always)
  func callAsFunction(_ lhs: T, _ rhs: T) -> T { lhs > rhs ? lhs : rhs }
}

private struct Lesser<T: Comparable & BitwiseCopyable & Sendable>: BinaryFunction {
  @inline(__always)
  func callAsFunction(_ lhs: T, _ rhs: T) -> T { lhs < rhs ? lhs : rhs }
}
