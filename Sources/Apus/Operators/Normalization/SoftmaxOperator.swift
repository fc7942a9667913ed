// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SOFTMAX`: `e^(βx)` divided by the sum of these along the last axis.
enum SoftmaxOperator {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32, .uint8, .int8, .int16], ranks: 1...64)
    let isByte = input.type == .uint8 || input.type == .int8
    let output = try node.output(0, shape: input.shape, types: [input.type] + (isByte ? [.int16] : []))
    let beta = try node.options.softmax.beta
    let (rows, depth) = input.shape.rows
    if input.type == .float32 {
      let (kernel, choice) = Softmax.chooseFloats(
        beta: beta, isHalf: node.isHalfPrecision, rows: rows, depth: depth, using: node.kernels)
      return UnaryOperator(kernel, choice: choice, input: input, output: output)
    }
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
      try node.requireScale(near: 1 / 32768, of: output)
      // The reference forms this product in single precision. With one that is not above zero, all values are equal to it.
      let product = Double(try node.quantization(of: input).scale * beta)
      return UnaryOperator(
        Softmax.words(factor: product > 0 ? product : 0, rows: rows, depth: depth), choice: .plain,
        input: input, output: output)
    }
    let factor = Double(try node.quantization(of: input).scale) * Double(beta)
    guard factor.isFinite, factor > 0 else {
      throw node.unsupported("beta is \(beta); above zero is expected")
    }
    if output.type == .int8 {
      let (scale, zeroPoint) = try node.quantization(of: output)
      guard zeroPoint == -128, scale.isNear(1 / 256) else {
        throw node.malformed(
          "\(output.name) has the scale \(scale) and zero point \(zeroPoint), not 1/256 and -128")
      }
    }
    let (kernel, choice) = Softmax.chooseBytes(
      isSigned: input.type == .int8, factor: factor, isWord: output.type == .int16, rows: rows, depth: depth,
      using: node.kernels)
    return UnaryOperator(kernel, choice: choice, input: input, output: output)
  }
}
