// SPDX-License-Identifier: Apache-2.0

/// `STABLEHLO_CASE`: calls the subgraph with an index; the last one for indices out of range.
enum StableHLOCase {
  /// The subgraphs that the options name.
  static func subgraphs(_ options: OperatorOptions) throws(ApusError) -> [Int] {
    try options.stablehloCase.subgraphs
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let condition = try node.input(0, types: [.int32])
    guard condition.shape.elementCount == 1 else {
      throw node.malformed("the index \(condition.name) is \(condition.shape), not one element")
    }
    return try SubgraphSwitch.prepared(node, .number(condition), node.inputs(from: 1))
  }
}
