/// `IF`: calls one of two subgraphs, by a condition of one element.
enum If {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let condition = try node.input(0, types: [.bool])
    guard condition.shape.elementCount == 1 else {
      throw node.malformed("the condition \(condition.name) is \(condition.shape), not one element")
    }
    let inputs = try node.inputs(from: 1)
    let called = try node.calledSubgraphs()
    let whenTrue = try call(called[0], inputs, node)
    let whenFalse = try call(called[1], inputs, node)
    let trueShapes = whenTrue.plannedShapes
    // Preparing the second may have prepared the first anew, where one calls what the other does.
    guard let shapes = whenFalse.plannedShapes, shapes == trueShapes else {
      return DeferredSubgraphSwitch(condition: condition, inputs: inputs, whenTrue: whenTrue, whenFalse: whenFalse)
    }
    return SubgraphSwitch(
      condition: condition, inputs: inputs, outputs: try node.outputs(shapes), whenTrue: whenTrue,
      whenFalse: whenFalse)
  }

  private static func call(_ index: Int, _ inputs: [TensorSlot], _ node: Node) throws(ApusError) -> SubgraphCall {
    try SubgraphCall(
      index, inputs: inputs.map { ($0.type, $0.shape) }, outputTypes: try node.outputTypes(), of: node)
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
