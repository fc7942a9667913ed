// SPDX-License-Identifier: Apache-2.0

/// `STABLEHLO_COMPOSITE`: calls the subgraph that defines the composite.
enum StableHLOComposite {
  /// The subgraph that the options name.
  static func subgraphs(_ options: OperatorOptions) throws(ApusError) -> [Int] {
    [try options.stablehloComposite.subgraph]
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try SubgraphSwitch.prepared(node, .only, node.inputs(from: 0))
  }
}
