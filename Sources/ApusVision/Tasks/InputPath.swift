// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The operators that one of a model's inputs goes through, usually the first, as long as each tensor has one reader.
struct InputPath: Sequence, IteratorProtocol {
  /// One operator on the path.
  struct Step {
    let code: OperatorCode
    let node: OperatorEntry
    /// The tensor on the path that the operator reads.
    let input: Int
    /// The tensor that it writes.
    let output: Int

    /// Whether it only moves the numbers, pads them or stores them in another type.
    var isMovement: Bool {
      (BoundsSearch.movements.contains(code) || code == .pad) && node.inputs.first == input
    }
    /// Whether the tensor on the path is the first operand.
    var isFirst: Bool { node.inputs.first == input }
  }

  /// How many operators that only move numbers may come before the one that counts.
  static let maximumMovements = 16

  private let model: Model
  private let subgraph: SubgraphEntry
  private var tensor: Int?

  /// Begins at an input.
  init(_ model: Model, input: Int = 0) {
    self.model = model
    subgraph = model.file.subgraphs[0]
    tensor = subgraph.inputs.indices.contains(input) ? subgraph.inputs[input] : nil
  }

  mutating func next() -> Step? {
    guard let input = tensor else { return nil }
    tensor = nil
    let readers = subgraph.operators.filter { $0.inputs.contains(input) }
    guard readers.count == 1, let node = readers.first, let output = node.outputs.first,
      let code = model.file.operatorCodes[node.operatorCode].code
    else { return nil }
    tensor = output
    return Step(code: code, node: node, input: input, output: output)
  }

  /// The numbers of the constant of floats that an operator with two operands has beside the path, if there are as many; nil otherwise.
  func constants(of step: Step, count: Int) -> [Float]? {
    guard step.node.inputs.count == 2, let other = step.node.inputs.first(where: { $0 != step.input }),
      subgraph.tensors.indices.contains(other),
      model.tensor(other, subgraph: 0).shape.elementCount == count
    else { return nil }
    return model.constantFloats(of: other)
  }

  /// The bounds of the constant that an operator with two operands has beside the path; nil if it has none.
  func constant(of step: Step) -> ClosedRange<Float>? {
    guard step.node.inputs.count == 2, let other = step.node.inputs.first(where: { $0 != step.input }),
      subgraph.tensors.indices.contains(other)
    else { return nil }
    return (try? model.constantBounds(of: other)) ?? nil
  }
}
