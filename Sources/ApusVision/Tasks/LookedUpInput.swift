// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// An input whose numbers the graph looks up in a table, as models of texts and recommendations do: they are words or other items, not
/// pixels or samples.
struct LookedUpInput {
  /// The operator that looks them up.
  let reader: String

  /// How many tensors are followed.
  private static let maximumTensors = 64
  /// Operators that pass positions on: those that only move them, make them whole or keep them in the table.
  private static let passing: Set<OperatorCode> = [
    .cast, .reshape, .squeeze, .expandDims, .slice, .stridedSlice, .transpose, .concatenation, .pack, .unpack,
    .tile, .split,
    .round, .floor, .maximum, .minimum,
  ]
  /// Operators that look at positions without computing with them, as masks of padding and loops do.
  private static let asides: Set<OperatorCode> = [
    .shape, .equal, .notEqual, .greater, .greaterEqual, .less, .lessEqual,
  ]

  /// Follows the model's only input to the operators that use it; nil if one of them computes with its numbers, or none looks them up.
  init?(_ model: Model) {
    let subgraph = model.file.subgraphs[0]
    guard subgraph.inputs.count == 1 else { return nil }
    var waiting = subgraph.inputs
    var seen = Set(waiting)
    var reader: OperatorCode?
    while let tensor = waiting.popLast() {
      guard seen.count <= Self.maximumTensors, !subgraph.outputs.contains(tensor) else { return nil }
      for node in subgraph.operators where node.inputs.contains(tensor) {
        guard let code = model.file.operatorCodes[node.operatorCode].code else { return nil }
        if let place = Self.position(code), node.inputs.count > place, node.inputs[place] == tensor,
          node.inputs.count(where: { $0 == tensor }) == 1
        {
          reader = code
        } else if Self.passing.contains(code) {
          for output in node.outputs where seen.insert(output).inserted { waiting.append(output) }
        } else if !Self.asides.contains(code) {
          return nil
        }
      }
    }
    guard let reader else { return nil }
    self.reader = reader.schemaName
  }

  /// Which input of an operator has positions in a table; nil for operators without one.
  private static func position(_ code: OperatorCode) -> Int? {
    switch code {
    case .gather, .gatherND: 1
    case .embeddingLookup, .oneHot, .hashtableLookup: 0
    default: nil
    }
  }

  /// The error for a task that takes other numbers.
  func refusal(of tensor: Tensor, not what: String) -> ApusError {
    ApusError(
      .invalidArgument,
      """
      the input \(tensor) takes numbers of words or other items, which \(reader) looks up in a table, not \(what); \
      'apus run MODEL --input NUMBERS.npy' or an interpreter takes them
      """)
  }
}
