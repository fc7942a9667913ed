// SPDX-License-Identifier: Apache-2.0

/// `MATRIX_DIAG`: square matrices of zeros with rows as their diagonals. `MATRIX_SET_DIAG`: matrices with
/// other diagonals.
enum MatrixDiagonal {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, ranks: 1...8)
    let size = input.shape[input.shape.rank - 1]
    let output = try node.output(0, shape: TensorShape(input.shape.dimensions + [size]), like: input)
    return try diagonals(of: input, in: output, filling: .value(0), node)
  }

  static func prepareSet(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, ranks: 2...8)
    let rank = input.shape.rank
    let size = min(input.shape[rank - 2], input.shape[rank - 1])
    let diagonal = try node.input(1, types: [input.type], rank: rank - 1)
    guard diagonal.shape.dimensions == input.shape.dimensions.dropLast(2) + [size] else {
      throw node.malformed("the diagonals \(diagonal.shape) do not fit \(input.shape)")
    }
    let output = try node.output(0, shape: input.shape, like: input)
    return try diagonals(of: diagonal, in: output, filling: .tensor(input), node)
  }

  private static func diagonals(
    of source: TensorSlot, in output: TensorSlot, filling: DataMovement.Filling, _ node: Node
  ) throws(ApusError) -> any Operator {
    guard source.shape.elementCount > 0 else { return DataMovement(filling: (output, filling), []) }
    let strides = output.shape.strides
    let rank = source.shape.rank
    return DataMovement(
      filling: (output, filling),
      [
        try node.move(
          source.shape.dimensions, from: source, strides: source.shape.strides, to: output,
          strides: strides[..<(rank - 1)] + [strides[rank - 1] + 1])
      ])
  }
}
