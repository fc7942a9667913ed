// SPDX-License-Identifier: Apache-2.0

/// `EXPAND_DIMS`: puts a dimension of size 1 before an axis, or after the last one.
enum ExpandDims {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let position = try node.integer(of: node.input(1, types: [.int32, .int64]))
    var dimensions = input.shape.dimensions
    dimensions.insert(1, at: try node.axis(position, rank: dimensions.count + 1))
    return try node.view(0, of: input, shape: TensorShape(dimensions))
  }
}
