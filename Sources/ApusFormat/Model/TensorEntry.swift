// SPDX-License-Identifier: Apache-2.0

/// The file's description of one tensor.
package final class TensorEntry: Sendable {
  /// The type of its elements.
  package let type: TensorType
  /// The dimensions: each at least 0, or -1 where unknown.
  package let shape: [Int]
  /// The shape with -1 for each dimension that may be resized; empty where the file has none.
  package let shapeSignature: [Int]
  /// Whether an empty shape means a scalar rather than an unknown shape.
  package let hasRank: Bool
  /// The buffer's index, in range; 0 is by convention empty.
  package let buffer: Int
  /// The constant's bytes, as many as type and shape (or sparsity) need; nil where there is no constant.
  package let data: Range<Int>?
  /// The quantization, where the file has any; it may still have no scales.
  package let quantization: QuantizationEntry?
  /// Whether the tensor keeps its value from one run to the next.
  package let isVariable: Bool
  /// How a sparse constant is stored; checked against the shape and the data.
  package let sparsity: SparsityEntry?

  private let bytes: FileBytes
  private let nameText: FlatBufferVector

  init(
    bytes: FileBytes, name: FlatBufferVector, type: TensorType, shape: [Int], shapeSignature: [Int],
    hasRank: Bool, buffer: Int,
    data: Range<Int>?, quantization: QuantizationEntry?, isVariable: Bool, sparsity: SparsityEntry?
  ) {
    self.bytes = bytes
    nameText = name
    self.type = type
    self.shape = shape
    self.shapeSignature = shapeSignature
    self.hasRank = hasRank
    self.buffer = buffer
    self.data = data
    self.quantization = quantization
    self.isVariable = isVariable
    self.sparsity = sparsity
  }

  /// A tensor with another quantization.
  init(_ other: TensorEntry, quantization: QuantizationEntry?) {
    bytes = other.bytes
    nameText = other.nameText
    type = other.type
    shape = other.shape
    shapeSignature = other.shapeSignature
    hasRank = other.hasRank
    buffer = other.buffer
    data = other.data
    self.quantization = quantization
    isVariable = other.isVariable
    sparsity = other.sparsity
  }

  /// The name, possibly empty or shared with other tensors; made of the file's bytes when it is asked for.
  package var name: String { bytes.text(nameText) }
}
