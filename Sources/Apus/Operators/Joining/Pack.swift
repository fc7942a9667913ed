// SPDX-License-Identifier: Apache-2.0

/// `PACK`: tensors of one shape along a new axis.
enum Pack {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...(1 << 16))
    let first = try node.input(0)
    let count = try node.options.pack.count
    guard count == node.inputCount else {
      throw node.malformed("has \(node.inputCount) inputs, not the \(count) of its options")
    }
    let axis = try node.axis(node.options.pack.axis, rank: first.shape.rank + 1)
    var dimensions = first.shape.dimensions
    dimensions.insert(count, at: axis)
    let output = try node.output(0, shape: TensorShape(dimensions), like: first)
    var strides = output.shape.strides
    let stride = strides.remove(at: axis)
    var steps: [DataMovement.Step] = []
    for position in 0..<count {
      let input = try node.input(position, types: [first.type])
      guard input.shape == first.shape else {
        throw node.malformed(
          "the inputs \(first.name) and \(input.name) are \(first.shape) and \(input.shape)")
      }
      try node.expectSameQuantization(input, output)
      if input.shape.elementCount > 0 {
        steps.append(
          try node.move(
            input.shape.dimensions, from: input, strides: input.shape.strides, to: output, strides: strides,
            at: position * stride))
      }
    }
    return DataMovement(steps)
  }
}
