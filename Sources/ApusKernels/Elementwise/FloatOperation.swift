// SPDX-License-Identifier: Apache-2.0

/// An operation of two floats, whose result is clamped to bounds; NaN passes.
package struct FloatOperation: Sendable {
  /// An operation without bounds.
  package enum Kind: Hashable, Sendable, CaseIterable {
    case add, subtract, multiply, divide, squaredDifference
    /// The first operand if it is not below zero, otherwise the product.
    case parametricRelu
    /// The greater or the lesser operand; the second if they are equal or unordered.
    case maximum, minimum

    /// The result before it is clamped.
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
      case .maximum: return lhs > rhs ? lhs : rhs
      case .minimum: return lhs < rhs ? lhs : rhs
      }
    }
  }

  /// The operation without bounds.
  package let kind: Kind
  /// The bounds that the result is clamped to.
  package let bounds: ScalarBounds<Float>

  /// An operation with bounds; by default, there are none.
  package init(_ kind: Kind, minimum: Float = -.infinity, maximum: Float = .infinity) {
    self.kind = kind
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
  }

  /// The kernel in plain Swift.
  package func kernel(_ shapes: BroadcastShapes) -> any BinaryKernel {
    let formula = FloatFormula(self)
    // Each operation has a loop compiled for it.
    return switch kind {
    case .add: BroadcastBinary(FloatSum(bounds: bounds), shapes, formula: formula)
    case .subtract: BroadcastBinary(FloatDifference(bounds: bounds), shapes, formula: formula)
    case .multiply: BroadcastBinary(FloatProduct(bounds: bounds), shapes, formula: formula)
    case .divide: BroadcastBinary(FloatQuotient(bounds: bounds), shapes, formula: formula)
    case .squaredDifference: BroadcastBinary(FloatSquaredDifference(bounds: bounds), shapes, formula: formula)
    case .parametricRelu: BroadcastBinary(FloatParametricRelu(bounds: bounds), shapes, formula: formula)
    case .maximum: BroadcastBinary(FloatMaximum(bounds: bounds), shapes, formula: formula)
    case .minimum: BroadcastBinary(FloatMinimum(bounds: bounds), shapes, formula: formula)
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

private struct FloatMaximum: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs > rhs ? lhs : rhs) }
}

private struct FloatMinimum: BinaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float { bounds.clamp(lhs < rhs ? lhs : rhs) }
}
