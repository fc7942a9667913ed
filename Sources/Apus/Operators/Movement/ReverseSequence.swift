// SPDX-License-Identifier: Apache-2.0

/// `REVERSE_SEQUENCE`: for each slice along one axis, the first elements of another in the opposite
/// order.
enum ReverseSequence {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let lengths = try node.integers(of: node.input(1, types: [.int32, .int64], rank: 1))
    let sequence = try node.axis(node.options.reverseSequence.sequenceAxis, rank: input.shape.rank)
    let batch = try node.axis(node.options.reverseSequence.batchAxis, rank: input.shape.rank)
    guard sequence != batch, lengths.count == input.shape[batch],
      lengths.allSatisfy({ $0 <= input.shape[sequence] })
    else {
      throw node.malformed(
        "\(lengths.count) lengths along axes \(sequence) and \(batch) do not fit \(input.shape)")
    }
    let output = try node.output(0, shape: input.shape, like: input)
    guard input.shape.elementCount > 0 else { return DataMovement([]) }
    // A copy for each slice.
    try node.needCopies(lengths.count { $0 > 1 })
    let strides = input.shape.strides
    var dimensions = input.shape.dimensions
    dimensions[batch] = 1
    var steps: [DataMovement.Step] = []
    for (position, length) in lengths.enumerated() where length > 1 {
      var backwards = strides
      backwards[sequence] = -strides[sequence]
      dimensions[sequence] = length
      let offset = position * strides[batch]
      steps.append(
        try node.move(
          dimensions, from: input, strides: backwards, offset: offset + (length - 1) * strides[sequence],
          to: output,
          strides: strides, at: offset))
    }
    return DataMovement(filling: (output, .tensor(input)), steps)
  }
}
