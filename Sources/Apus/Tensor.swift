// SPDX-License-Identifier: Apache-2.0

/// What is known of a tensor, without its data.
public struct Tensor: Hashable, Sendable {
  /// The tensor's place in its subgraph.
  public let index: Int
  /// The name that the converter gave; not always unique.
  public let name: String
  /// The type of its elements.
  public let type: ElementType
  /// The shape as it stands: of the file in a ``Model``, as prepared in an ``Interpreter``.
  public let shape: TensorShape
  /// The shape as exported, where a dimension that may change is −1; equal to the file's shape otherwise.
  public let shapeSignature: [Int]
  /// How integers stand for real numbers, if they do.
  public let quantization: QuantizationParameters?
  /// Whether the file holds the tensor's values.
  public let isConstant: Bool
  /// Whether the tensor keeps its values between runs.
  public let isVariable: Bool
}

extension Tensor: CustomStringConvertible {
  /// For example `input (uint8 1×300×300×3)`.
  public var description: String { "\(name) (\(type) \(shape))" }
}
