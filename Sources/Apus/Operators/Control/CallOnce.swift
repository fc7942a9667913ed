// SPDX-License-Identifier: Apache-2.0

/// `CALL_ONCE`: runs a subgraph without inputs and outputs, only the first time.
struct CallOnce: Operator {
  private let call: SubgraphCall

  /// The subgraph that the options name.
  static func subgraphs(_ options: OperatorOptions) throws(ApusError) -> [Int] {
    [try options.callOnce.subgraph]
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 0...0, outputs: 0...0)
    return CallOnce(
      call: try SubgraphCall(try node.calledSubgraphs()[0], inputs: [], outputTypes: [], of: node))
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    let graph = call.graph
    guard !graph.context.wasCalled[graph.subgraphIndex] else { return }
    try call.run()
    graph.context.wasCalled[graph.subgraphIndex] = true
  }
}
