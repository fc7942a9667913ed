// SPDX-License-Identifier: Apache-2.0

/// An operation of two floats, the result brought between two bounds; NaN passes.
package struct FloatOperation: Sendable {
  /// What is computed.
  package enum Kind: Hashable, Sendable {
    case add, subtract, multiply, divide, squaredDifference
    /// The first where it is not below zero, otherwise the product.
    case parametricRelu

    /// The result without bounds.
    @inline(__always)
    package func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float {
      switch self {
      case .add: return lhs + rhs
      case .subtract: return lhs - rhs
      case .multiply: return lhs * rhs
      case .divide: return lhs / rhs
      case .squaredDifference:
        let difference = lhs - rhs
        return difference * difference
      case .parametricRelu: return lhs >= 0 ? lhs : lhs * rhs
      }
    }
  }

  /// The operation without bounds.
  package let kind: Kind
  /// What the result is brought between.
  package let bounds: ScalarBounds<Float>

  /// The operation without bounds, unless there are some.
  package init(_ kind: Kind, minimum: Float = -.infinity, maximum: Float = .infinity) {
    self.kind = kind
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
  }

  /// The kernel in plain Swift.
  package func kernel(_ shapes: BroadcastShapes) -> any BinaryKernel {
    let formula = FloatFormula(self)
    // A loop for each.
    return switch kind {
    case .add: BroadcastBinary(FloatSum(bounds: bounds), shapes, formula: formula)
    case .subtract: BroadcastBinary(FloatDifference(bounds: bounds), shapes, formula: formula)
    case .multiply: BroadcastBinary(FloatProduct(bounds: bounds), shapes, formula: formula)
    case .divide: BroadcastBinary(FloatQuotient(bounds: bounds), shapes, formula: formula)
    case .squaredDifference: BroadcastBinary(FloatSquaredDifference(bounds: bounds), shapes, formula: formula)
    case .parametricRelu: BroadcastBinary(FloatParametricRelu(bounds: bounds), shapes, formula: formula)
    }
  }
}

private struct FloatSum: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs + rhs) }
}

private struct FloatDifference: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs - rhs) }
}

private struct FloatProduct: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs * rhs) }
}

private struct FloatQuotient: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs / rhs) }
}

private struct FloatSquaredDifference: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float {
    let difference = lhs - rhs
    return bounds.clamp(difference * difference)
  }
}

private struct FloatParametricRelu: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs >= 0 ? lhs : lhs * rhs) }
}
