// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `TANH`: the hyperbolic tangent.
enum Tanh {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    switch input.type {
    case .float32:
      return UnaryOperator(FloatFunction.tanh, input: input, output: output, using: node.kernels)
    case .int16:
      let sigmoid = try node.wordSigmoid(input: input, output: output, powerShifts: 0...1)
      return UnaryOperator(
        sigmoid.tanh(count: input.shape.elementCount), choice: .plain, input: input, output: output)
    default:
      return try node.tabulated({ FloatFunction.tanh($0) }, input: input, output: output)
    }
  }
}
