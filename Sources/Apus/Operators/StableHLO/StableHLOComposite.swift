// SPDX-License-Identifier: Apache-2.0

/// `STABLEHLO_COMPOSITE`: calls the subgraph that defines the composite.
enum StableHLOComposite {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try SubgraphSwitch.prepared(node, .only, node.inputs(from: 0))
  }
}
