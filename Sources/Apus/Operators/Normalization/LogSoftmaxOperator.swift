// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `LOG_SOFTMAX`: the logarithm of SOFTMAX along the last axis.
enum LogSoftmaxOperator {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32, .uint8, .int8])
    let output = try node.output(0, shape: input.shape, like: input)
    let (rows, depth) = input.shape.rows
    if input.type == .float32 {
      let (kernel, choice) = LogSoftmax.chooseFloats(rows: rows, depth: depth, using: node.kernels)
      return UnaryOperator(kernel, choice: choice, input: input, output: output)
    }
    try node.requireScale(16 / 256, of: output)
    let expected: Int32 = input.type == .uint8 ? 255 : 127
    let zeroPoint = try node.quantization(of: output).zeroPoint
    guard zeroPoint == expected else {
      throw node.malformed("\(output.name) has the zero point \(zeroPoint), not \(expected)")
    }
    let kernel = LogSoftmax.bytes(
      isSigned: input.type == .int8, scale: try node.quantization(of: input).scale, rows: rows, depth: depth)
    return UnaryOperator(kernel, choice: .plain, input: input, output: output)
  }
}
