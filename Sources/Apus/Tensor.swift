// SPDX-License-Identifier: Apache-2.0

/// A description of a tensor, without its data.
public struct Tensor: Hashable, Sendable {
  /// The tensor's index in its subgraph.
  public let index: Int
  /// The name that the converter gave; not always unique.
  public let name: String
  /// The type of its elements.
  public let type: ElementType
  /// The shape: the file's in a ``Model``, the prepared one in an ``Interpreter``.
  public let shape: TensorShape
  /// The file's shape, with −1 for open dimensions, which may change.
  public let shapeSignature: [Int]
  /// How integers represent real numbers; nil if the file has no scales for the tensor.
  public let quantization: QuantizationParameters?
  /// Whether the file holds the tensor's values.
  public let isConstant: Bool
  /// Whether the tensor keeps its values between runs.
  public let isVariable: Bool
  /// How the file stores a constant with few elements that are not zero; nil if it stores every element, or none.
  public let sparsity: Sparsity?

  /// The description of the same tensor with another shape.
  package func reshaped(_ shape: TensorShape) -> Tensor {
    Tensor(
      index: index, name: name, type: type, shape: shape, shapeSignature: shapeSignature,
      quantization: quantization, isConstant: isConstant, isVariable: isVariable,
      sparsity: sparsity)
  }
}

extension Tensor: CustomStringConvertible {
  /// For example `input (uint8 1×300×300×3)`.
  public var description: String { "\(name) (\(type) \(shape))" }
}
