// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SIGN`: −1, 0 or 1.
enum Sign {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    guard node.inputType(0) == .float64 else {
      return try node.numberFunction(.sign, .sign)
    }
    let (input, output) = try node.unaryTensors()
    let kernel = DoubleFunctions.sign(count: input.shape.elementCount)
    return UnaryOperator(kernel, choice: .plain, input: input, output: output)
  }
}
