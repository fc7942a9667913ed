// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The activation that a schema lets an operator apply to its result.
///
/// Source: `ActivationFunctionType` in `schema.fbs`.
package enum FusedActivation: Int, Sendable {
  /// No function.
  case none = 0
  /// `max(0, x)`.
  case relu = 1
  /// `x` clamped to −1…1.
  case reluN1To1 = 2
  /// `x` clamped to 0…6.
  case relu6 = 3
  /// The hyperbolic tangent.
  case tanh = 4
  /// Whether `x` is negative.
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

extension Model {
  /// The activation that the options of an operator name; nil if they name none of the schema, or cannot.
  package func fusedActivation(of node: OperatorEntry) throws(ApusError) -> FusedActivation? {
    let options = OperatorOptions(node) { ApusError(.malformedModel, $0.message) }
    let value: Int
    switch file.operatorCodes[node.operatorCode].code {
    case .add: value = try options.add.activation
    case .averagePool2D, .l2Pool2D, .maxPool2D: value = try options.pool2D.activation
    case .concatenation: value = try options.concatenation.activation
    case .conv2D: value = try options.conv2D.activation
    case .conv3D, .conv3DTranspose: value = try options.conv3D.activation
    case .depthwiseConv2D: value = try options.depthwiseConv2D.activation
    case .div: value = try options.div.activation
    case .fullyConnected: value = try options.fullyConnected.activation
    case .mul: value = try options.mul.activation
    case .sub: value = try options.sub.activation
    case .transposeConv: value = try options.transposeConv.activation
    default: return nil
    }
    return FusedActivation(rawValue: value)
  }
}
