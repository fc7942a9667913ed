// SPDX-License-Identifier: Apache-2.0

/// `IF`: calls one of two subgraphs, depending on a condition of one element.
enum If {
  /// The subgraphs that the options name.
  static func subgraphs(_ options: OperatorOptions) throws(ApusError) -> [Int] {
    [try options.if.thenSubgraph, try options.if.elseSubgraph]
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let condition = try node.input(0, types: [.bool])
    guard condition.shape.elementCount == 1 else {
      throw node.malformed("the condition \(condition.name) is \(condition.shape), not one element")
    }
    return try SubgraphSwitch.prepared(node, .condition(condition), node.inputs(from: 1))
  }
}

extension Node {
  /// All outputs, with their shapes.
  func outputs(_ shapes: [TensorShape]) throws(ApusError) -> [TensorSlot] {
    var slots: [TensorSlot] = []
    for (position, shape) in shapes.enumerated() { slots.append(try output(position, shape: shape)) }
    return slots
  }
}
