// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `LEAKY_RELU`: `αx` below zero, `x` above.
enum LeakyRelu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    let alpha = try node.options.leakyRelu.alpha
    let count = input.shape.elementCount
    guard input.type != .float32 else {
      return UnaryOperator(
        FloatFunction.leakyRelu(alpha: alpha), input: input, output: output, using: node.kernels)
    }
    try node.requireNoZeroPoint(ofInt16: input, output)
    let source = try node.quantization(of: input).scale
    let target = try node.quantization(of: output).scale
    let factor = ScaleFactor.narrow(source, alpha, over: target)
    let function = QuantizedLeakyRelu(
      positive: try node.rescaling(ScaleFactor.narrow(source, over: target), from: input, to: output),
      negative: FixedPointMultiplier(abs(factor)), isNegated: factor < 0)
    if input.type == .int16 {
      return UnaryOperator(function.words(count: count), choice: .plain, input: input, output: output)
    }
    let table = function.bytes(isSigned: input.type == .int8)
    return UnaryOperator(table, input: input, output: output, using: node.kernels)
  }
}
