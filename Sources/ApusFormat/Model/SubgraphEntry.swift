// SPDX-License-Identifier: Apache-2.0

/// One subgraph: its tensors and the operators in the order in which they run.
package struct SubgraphEntry: Sendable {
  /// The name, often empty.
  package let name: String
  /// The tensors that the indices below refer to.
  package private(set) var tensors: [TensorEntry]
  /// The tensors that a caller fills; each is in range.
  package let inputs: [Int]
  /// The tensors that a caller reads; each is in range.
  package let outputs: [Int]
  /// The operators.
  package let operators: [OperatorEntry]

  /// Gives a tensor another quantization.
  mutating func requantize(_ tensor: Int, as quantization: QuantizationEntry?) {
    tensors[tensor] = TensorEntry(tensors[tensor], quantization: quantization)
  }
}
