// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `ABS`: numbers without their sign.
enum Abs {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    let isQuantized = input.type == .int8 || input.type == .int16 && input.quantization != nil
    guard isQuantized else {
      return try node.numberFunction(.absolute, .absolute)
    }
    try node.requireNoZeroPoint(ofInt16: input, output)
    let factor = ScaleFactor.narrow(
      try node.quantization(of: input).scale, over: try node.quantization(of: output).scale)
    let function = QuantizedAbsolute(try node.rescaling(factor, from: input, to: output))
    let count = input.shape.elementCount
    if input.type == .int8 {
      return UnaryOperator(function.bytes, input: input, output: output, using: node.kernels)
    }
    return UnaryOperator(function.words(count: count), choice: .plain, input: input, output: output)
  }
}
