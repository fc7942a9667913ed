// SPDX-License-Identifier: Apache-2.0

/// `UNPACK`: the slices of a tensor along an axis, which disappears.
enum Unpack {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1, outputs: 0...(1 << 16))
    let input = try node.input(0)
    let axis = try node.axis(node.options.unpack.axis, rank: input.shape.rank)
    let count = try node.options.unpack.count
    guard count == node.outputCount, count == input.shape[axis], input.shape.elementCount > 0 else {
      throw node.malformed(
        "\(count) slices along axis \(axis) of \(input.shape) for \(node.outputCount) outputs"
      )
    }
    var dimensions = input.shape.dimensions
    dimensions.remove(at: axis)
    var strides = input.shape.strides
    let stride = strides.remove(at: axis)
    let shape = TensorShape(dimensions)
    var steps: [DataMovement.Step] = []
    for position in 0..<count {
      let output = try node.output(position, shape: shape, like: input)
      try node.expectSameQuantization(input, output)
      steps.append(
        try node.move(
          dimensions, from: input, strides: strides, offset: position * stride, to: output,
          strides: shape.strides))
    }
    return DataMovement(steps)
  }
}
