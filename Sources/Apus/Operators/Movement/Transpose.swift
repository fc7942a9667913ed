// SPDX-License-Identifier: Apache-2.0

/// `TRANSPOSE`: axes in another order.
enum Transpose {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, ranks: 0...8)
    let order = try node.input(1, types: [.int32], rank: 1)
    var axes: [Int] = []
    for axis in try node.integers(of: order) { axes.append(try node.axis(axis, rank: input.shape.rank)) }
    guard axes.count == input.shape.rank, Set(axes).count == axes.count else {
      throw node.malformed("\(axes.brief) is not an order of the axes of \(input.name), \(input.shape)")
    }
    let shape = TensorShape(axes.map { input.shape[$0] })
    if axes.filter({ input.shape[$0] != 1 }) == axes.filter({ input.shape[$0] != 1 }).sorted() {
      return try node.view(0, of: input, shape: shape)
    }
    let output = try node.output(0, shape: shape, like: input)
    let strides = input.shape.strides
    return try node.move(
      shape.dimensions, from: input, strides: axes.map { strides[$0] }, to: output, strides: shape.strides)
  }
}
