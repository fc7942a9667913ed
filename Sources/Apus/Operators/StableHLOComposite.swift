/// `STABLEHLO_COMPOSITE`: calls the subgraph that spells out what the composite stands for.
enum StableHLOComposite {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let inputs = try node.inputs(from: 0)
    let call = try SubgraphCall(
      try node.calledSubgraphs()[0], inputs: inputs.map { ($0.type, $0.shape) },
      outputTypes: try node.outputTypes(), of: node)
    guard let shapes = call.plannedShapes else {
      return DeferredSubgraphSwitch(condition: nil, inputs: inputs, whenTrue: call, whenFalse: call)
    }
    return SubgraphSwitch(
      condition: nil, inputs: inputs, outputs: try node.outputs(shapes), whenTrue: call, whenFalse: call)
  }
}
