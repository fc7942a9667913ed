// SPDX-License-Identifier: Apache-2.0

/// A function of one unquantized integer; overflow wraps.
package enum IntegerFunction: Hashable, Sendable {
  case absolute, negate, sign

  /// The kernel for `count` integers; nil for floats and unsigned types.
  package func kernel(_ type: ScalarType, count: Int) -> (any UnaryKernel)? {
    switch type {
    case .int8: kernel(Int8.self, count)
    case .int16: kernel(Int16.self, count)
    case .int32: kernel(Int32.self, count)
    case .int64: kernel(Int64.self, count)
    default: nil
    }
  }

  @inline(__always)
  private func kernel<T: FixedWidthInteger & SignedInteger & BitwiseCopyable & Sendable>(
    _ type: T.Type, _ count: Int
  ) -> any UnaryKernel {
    switch self {
    case .absolute: UnaryMap(IntegerAbsolute<T>(), count: count)
    case .negate: UnaryMap(IntegerNegative<T>(), count: count)
    case .sign: UnaryMap(IntegerSign<T>(), count: count)
    }
  }
}

private struct IntegerAbsolute<T: FixedWidthInteger & SignedInteger & BitwiseCopyable & Sendable>:
  UnaryFunction
{
  @inline(__always)
  func callAsFunction(_ value: T) -> T { value < 0 ? 0 &- value : value }
}

private struct IntegerNegative<T: FixedWidthInteger & SignedInteger & BitwiseCopyable & Sendable>:
  UnaryFunction
{
  @inline(__always)
  func callAsFunction(_ value: T) -> T { 0 &- value }
}

private struct IntegerSign<T: FixedWidthInteger & SignedInteger & BitwiseCopyable & Sendable>: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: T) -> T { value.signum() }
}

/// The negation of truth values.
package enum LogicalNegation {
  /// The kernel for `count` bytes that are 0 or 1.
  package static func kernel(count: Int) -> any UnaryKernel { UnaryMap(LogicalNot(), count: count) }
}

private struct LogicalNot: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: UInt8) -> UInt8 { value == 0 ? 1 : 0 }
}
