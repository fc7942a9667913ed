// SPDX-License-Identifier: Apache-2.0

/// `FILL`: a tensor of a given shape, all of one value. `ZEROS_LIKE`: zeros in the input's shape.
enum Fill {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let dimensions = try node.integers(of: node.input(0, types: [.int32, .int64], rank: 1))
    let value = try node.input(1, types: ElementType.movableBytes, rank: 0)
    let output = try node.output(0, shape: TensorShape(dimensions), like: value)
    try node.expectSameQuantization(value, output)
    return DataMovement(filling: (output, .element(value)), [])
  }

  static func prepareZeros(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0)
    let output = try node.output(0, shape: input.shape, like: input)
    return DataMovement(filling: (output, .value(0)), [])
  }
}
