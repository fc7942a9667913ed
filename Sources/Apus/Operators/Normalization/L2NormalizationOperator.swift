// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `L2_NORMALIZATION`: the last axis divided by its Euclidean norm.
enum L2NormalizationOperator {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32, .uint8, .int8], ranks: 1...64)
    let output = try node.output(0, shape: input.shape, like: input)
    guard try node.activation(node.options.l2Normalization.activation) == .none else {
      throw node.unsupported("a fused activation is not supported")
    }
    let (rows, depth) = input.shape.rows
    if input.type == .float32 {
      return UnaryOperator(
        L2Normalization.floats(rows: rows, depth: depth), choice: .plain, input: input, output: output)
    }
    try node.requireScale(1 / 128, of: output)
    let zeroPoint = try node.quantization(of: output).zeroPoint
    let expected: Int32 = input.type == .uint8 ? 128 : 0
    guard zeroPoint == expected else {
      throw node.malformed("\(output.name) has the zero point \(zeroPoint), not \(expected)")
    }
    let inputZeroPoint = try node.quantization(of: input).zeroPoint
    let kernel =
      input.type == .uint8
      ? L2Normalization.unsignedBytes(zeroPoint: inputZeroPoint, rows: rows, depth: depth)
      : L2Normalization.signedBytes(zeroPoint: inputZeroPoint, rows: rows, depth: depth)
    return UnaryOperator(kernel, choice: .plain, input: input, output: output)
  }
}
