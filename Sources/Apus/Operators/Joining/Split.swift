// SPDX-License-Identifier: Apache-2.0

/// `SPLIT` and `SPLIT_V`: parts along an axis, of equal lengths or of given ones.
enum Split {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2, outputs: 0...(1 << 16))
    let input = try node.input(1, types: [.float32, .uint8, .int8, .int16, .int32, .int64])
    let axis = try node.axis(node.integer(of: node.input(0, types: [.int32])), rank: input.shape.rank)
    let count = try node.options.split.count
    guard count == node.outputCount, count > 0, input.shape[axis].isMultiple(of: count) else {
      throw node.malformed(
        "\(count) parts of axis \(axis) of \(input.shape) for \(node.outputCount) outputs are not possible")
    }
    return try parts(
      of: input, axis: axis, lengths: Array(repeating: input.shape[axis] / count, count: count), node)
  }

  static func prepareV(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3, outputs: 0...(1 << 16))
    let input = try node.input(0)
    var lengths = try node.integers(of: node.input(1, types: [.int32, .int64], rank: 1))
    let axis = try node.axis(node.integer(of: node.input(2, types: [.int32])), rank: input.shape.rank)
    guard lengths.count == node.outputCount, try node.options.splitV.count == lengths.count else {
      throw node.malformed("\(lengths.count) lengths for \(node.outputCount) outputs")
    }
    let open = lengths.indices.filter { lengths[$0] == -1 }
    var sum = 0
    for length in lengths where length != -1 {
      guard length >= 0, length <= input.shape[axis] - sum else {
        throw node.malformed("the lengths \(lengths.brief) are not parts of axis \(axis) of \(input.shape)")
      }
      sum += length
    }
    if open.count == 1 {
      lengths[open[0]] = input.shape[axis] - sum
    } else if !open.isEmpty || sum != input.shape[axis] {
      throw node.malformed("the lengths \(lengths.brief) do not make axis \(axis) of \(input.shape)")
    }
    return try parts(of: input, axis: axis, lengths: lengths, node)
  }

  private static func parts(
    of input: TensorSlot, axis: Int, lengths: [Int], _ node: Node
  ) throws(ApusError) -> any Operator {
    let strides = input.shape.strides
    var steps: [DataMovement.Step] = []
    var begin = 0
    for (position, length) in lengths.enumerated() {
      var dimensions = input.shape.dimensions
      dimensions[axis] = length
      let shape = TensorShape(dimensions)
      let output = try node.output(position, shape: shape, like: input)
      if shape.elementCount > 0 {
        steps.append(
          try node.move(
            dimensions, from: input, strides: strides, offset: begin * strides[axis], to: output,
            strides: shape.strides))
      }
      begin += length
    }
    return DataMovement(steps)
  }
}
