// SPDX-License-Identifier: Apache-2.0

/// `SLICE`: a block with a begin and a size; a size of −1 goes to the end.
enum Slice {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let input = try node.input(0)
    let begins = try node.integers(of: node.input(1, types: [.int32, .int64], rank: 1))
    let sizes = try node.integers(of: node.input(2, types: [.int32, .int64], rank: 1))
    guard begins.count == input.shape.rank, sizes.count == input.shape.rank else {
      throw node.malformed(
        "\(begins.count) begins and \(sizes.count) sizes for \(input.name), \(input.shape)")
    }
    var dimensions: [Int] = []
    for (axis, length) in input.shape.dimensions.enumerated() {
      let (begin, size) = (begins[axis], sizes[axis])
      guard begin >= 0, begin <= length, size >= -1, size <= length - begin else {
        throw node.malformed("\(size) elements from \(begin) do not lie in axis \(axis) of \(input.shape)")
      }
      dimensions.append(size == -1 ? length - begin : size)
    }
    let shape = TensorShape(dimensions)
    if shape == input.shape { return try node.view(0, of: input, shape: shape) }
    let output = try node.output(0, shape: shape, like: input)
    let strides = input.shape.strides
    return try node.move(
      dimensions, from: input, strides: strides,
      offset: shape.elementCount == 0 ? 0 : zip(begins, strides).reduce(0) { $0 + $1.0 * $1.1 }, to: output,
      strides: shape.strides)
  }
}
