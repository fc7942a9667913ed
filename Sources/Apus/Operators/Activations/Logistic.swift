// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `LOGISTIC`: `1 / (1 + e⁻ˣ)`.
enum Logistic {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    switch input.type {
    case .float32:
      return UnaryOperator(FloatFunction.logistic, input: input, output: output, using: node.kernels)
    case .int16:
      try node.requireScale(1 / 32768, of: output)
      let sigmoid = try node.wordSigmoid(input: input, output: output, powerShifts: 0...0)
      return UnaryOperator(
        sigmoid.logistic(count: input.shape.elementCount), choice: .plain, input: input, output: output)
    default:
      try node.requireScale(1 / 256, of: output)
      return try node.tabulated({ FloatFunction.logistic($0) }, input: input, output: output)
    }
  }
}
