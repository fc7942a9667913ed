// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The source of the types of an operator's results.
///
/// The reference sets some of them during preparation, whatever the file declares, and there are files that rely on it.
enum ResultType {
  /// The file; preparation rejects types that do not fit.
  case declared
  /// An input, for the first result.
  case like(input: Int)
  /// An input, for all results: the parts of a tensor.
  case allLike(input: Int)
  /// The operator, for the first result.
  case fixed(ElementType)
  /// The operator, for each result in order.
  case fixedEach([ElementType])
  /// The options, for the first result; the file if they name no type that the operator has.
  case option(@Sendable (OperatorOptions) throws(ApusError) -> ElementType?)
}

extension OperatorRegistration {
  /// Changes the types of an operator's results to those that the operator decides.
  func setResultTypes(of node: OperatorEntry, in subgraph: SubgraphEntry, _ types: inout [ElementType]) {
    let type: ElementType
    var results = node.outputs.prefix(1)
    switch result {
    case .declared: return
    case .like(let input), .allLike(let input):
      guard node.inputs.indices.contains(input), node.inputs[input] >= 0 else { return }
      type = types[node.inputs[input]]
      if case .allLike = result { results = node.outputs[...] }
    case .fixed(let only): type = only
    case .fixedEach(let each):
      for (result, type) in zip(node.outputs, each) where !subgraph.tensors[result].isVariable {
        types[result] = type
      }
      return
    case .option(let read):
      // Malformed options are an error when the operator is prepared.
      let options = OperatorOptions(node) { ApusError(.malformedModel, $0.message) }
      guard let named = try? read(options) else { return }
      type = named
    }
    for result in results where !subgraph.tensors[result].isVariable { types[result] = type }
  }
}
