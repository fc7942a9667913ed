// SPDX-License-Identifier: Apache-2.0

/// The activation that a schema lets an operator apply to its result.
///
/// Source: `ActivationFunctionType` in `schema.fbs`.
enum FusedActivation: Int8, Sendable {
  case none = 0
  case relu = 1
  case reluN1To1 = 2
  case relu6 = 3
  case tanh = 4
  case signBit = 5

  /// The bounds on real numbers, or nil for a function that does not clamp.
  var bounds: (minimum: Float, maximum: Float)? {
    switch self {
    case .none: (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
    case .relu: (0, .greatestFiniteMagnitude)
    case .reluN1To1: (-1, 1)
    case .relu6: (0, 6)
    case .tanh, .signBit: nil
    }
  }

  /// The bounds of operators that let infinities pass: of products that the reference computes as matrices times
  /// vectors.
  var openBounds: (minimum: Float, maximum: Float)? {
    switch self {
    case .none: (-.infinity, .infinity)
    case .relu: (0, .infinity)
    default: bounds
    }
  }
}
