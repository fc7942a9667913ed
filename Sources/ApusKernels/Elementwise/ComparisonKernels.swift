// SPDX-License-Identifier: Apache-2.0

/// A relation of two elements; results are bytes, 1 where it holds.
package enum Comparison: Hashable, Sendable {
  case equal, notEqual, less, lessEqual, greater, greaterEqual

  /// The kernel for numbers, and for truth values: every byte but 0 is true.
  package func kernel(_ type: ScalarType, _ shapes: BroadcastShapes) -> any BinaryKernel {
    switch type {
    case .float32: kernel(Float.self, shapes)
    case .int8: kernel(Int8.self, shapes)
    case .uint8: kernel(UInt8.self, shapes)
    case .int16: kernel(Int16.self, shapes)
    case .uint16: kernel(UInt16.self, shapes)
    case .int32: kernel(Int32.self, shapes)
    case .uint32: kernel(UInt32.self, shapes)
    case .int64: kernel(Int64.self, shapes)
    case .bool: self == .equal ? truths(Equal.self, shapes) : truths(NotEqual.self, shapes)
    default: type.isNotTaken()
    }
  }

  private func truths<R: Relation>(_ relation: R.Type, _ shapes: BroadcastShapes) -> any BinaryKernel {
    precondition(self == .equal || self == .notEqual, "truth values have no order")
    return BroadcastBinary(ComparedTruths<R>(), shapes)
  }

  @inline(__always)
  private func kernel<T: Comparable & BitwiseCopyable & Sendable>(
    _ type: T.Type, _ shapes: BroadcastShapes
  ) -> any BinaryKernel {
    switch self {
    case .equal: BroadcastBinary(Compared<T, Equal>(), shapes)
    case .notEqual: BroadcastBinary(Compared<T, NotEqual>(), shapes)
    case .less: BroadcastBinary(Compared<T, Less>(), shapes)
    case .lessEqual: BroadcastBinary(Compared<T, LessEqual>(), shapes)
    case .greater: BroadcastBinary(Compared<T, Greater>(), shapes)
    case .greaterEqual: BroadcastBinary(Compared<T, GreaterEqual>(), shapes)
    }
  }

  /// The kernel for quantized bytes, which are compared on a common scale as the reference rounds it.
  package func bytes(
    isSigned: Bool, _ lhs: QuantizedOperand, _ rhs: QuantizedOperand, _ shapes: BroadcastShapes
  ) -> any BinaryKernel {
    let left = Table(count: 256) {
      Self.scaled(isSigned ? Int32(Int8(truncatingIfNeeded: $0)) : Int32($0), lhs)
    }
    let right = Table(count: 256) {
      Self.scaled(isSigned ? Int32(Int8(truncatingIfNeeded: $0)) : Int32($0), rhs)
    }
    return BroadcastBinary(
      ClosureBinary<UInt8, UInt8, UInt8> {
        self.holds(unsafe left.values[Int($0)], unsafe right.values[Int($1)]) ? 1 : 0
      }, shapes)
  }

  /// The kernel for quantized `int16`.
  package func words(
    _ lhs: QuantizedOperand, _ rhs: QuantizedOperand, _ shapes: BroadcastShapes
  ) -> any BinaryKernel {
    BroadcastBinary(
      ClosureBinary<Int16, Int16, UInt8> {
        self.holds(Self.scaled(Int32($0), lhs), Self.scaled(Int32($1), rhs)) ? 1 : 0
      }, shapes)
  }

  private static func scaled(_ value: Int32, _ operand: QuantizedOperand) -> Int32 {
    operand.multiplier.apply((value &- operand.zeroPoint) &<< 8)
  }

  @inline(__always)
  private func holds(_ lhs: Int32, _ rhs: Int32) -> Bool {
    switch self {
    case .equal: lhs == rhs
    case .notEqual: lhs != rhs
    case .less: lhs < rhs
    case .lessEqual: lhs <= rhs
    case .greater: lhs > rhs
    case .greaterEqual: lhs >= rhs
    }
  }
}

/// A function so costly that an indirect call does not matter.
struct ClosureBinary<Left: BitwiseCopyable, Right: BitwiseCopyable, Result: BitwiseCopyable>: BinaryFunction {
  let body: @Sendable (Left, Right) -> Result

  @inline(__always)
  func callAsFunction(_ lhs: Left, _ rhs: Right) -> Result { body(lhs, rhs) }
}

private protocol Relation {
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool
}

private struct Compared<T: Comparable & BitwiseCopyable & Sendable, R: Relation>: BinaryFunction {
  @inline(__always)
  func callAsFunction(_ lhs: T, _ rhs: T) -> UInt8 { R.holds(lhs, rhs) ? 1 : 0 }
}

private struct ComparedTruths<R: Relation>: BinaryFunction {
  @inline(__always)
  func callAsFunction(_ lhs: UInt8, _ rhs: UInt8) -> UInt8 {
    R.holds(min(lhs, 1), min(rhs, 1)) ? 1 : 0
  }
}

private enum Equal: Relation {
  @inline(__always)
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool { lhs == rhs }
}

private enum NotEqual: Relation {
  @inline(__always)
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool { lhs != rhs }
}

private enum Less: Relation {
  @inline(__always)
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool { lhs < rhs }
}

private enum LessEqual: Relation {
  @inline(__always)
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool { lhs <= rhs }
}

private enum Greater: Relation {
  @inline(__always)
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool { lhs > rhs }
}

private enum GreaterEqual: Relation {
  @inline(__always)
  static func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool { lhs >= rhs }
}
