// SPDX-License-Identifier: Apache-2.0

/// `BROADCAST_TO`: the input in a larger shape, axes of size 1 repeated. `BROADCAST_ARGS`: the shape that two
/// have.
///
/// For `int4` the reference copies whole bytes and misplaces elements; here every element is placed correctly.
enum BroadcastTo {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let shape = TensorShape(try node.integers(of: node.input(1, types: [.int32, .int64], rank: 1)))
    let added = shape.rank - input.shape.rank
    guard added >= 0,
      input.shape.dimensions.enumerated().allSatisfy({ $1 == 1 || $1 == shape[added + $0] })
    else { throw node.malformed("\(input.name), \(input.shape), cannot be made \(shape)") }
    let output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    let strides = zip(input.shape.dimensions, input.shape.strides).map { $0 == 1 ? 0 : $1 }
    return try node.move(
      shape.dimensions, from: input, strides: Array(repeating: 0, count: added) + strides, to: output,
      strides: shape.strides)
  }

  static func prepareShape(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let first = try node.input(0, types: [.int32, .int64], rank: 1)
    var lhs = try node.integers(of: first)
    var rhs = try node.integers(of: node.input(1, types: [first.type], rank: 1))
    let rank = max(lhs.count, rhs.count)
    lhs = Array(repeating: 1, count: rank - lhs.count) + lhs
    rhs = Array(repeating: 1, count: rank - rhs.count) + rhs
    guard zip(lhs, rhs).allSatisfy({ $0 == $1 || $0 == 1 || $1 == 1 }) else {
      throw node.malformed("the shapes \(lhs.brief) and \(rhs.brief) do not fit each other")
    }
    return try node.integerOutput(0, shape: [rank], zip(lhs, rhs).map { $0 == 1 ? $1 : $0 })
  }
}
