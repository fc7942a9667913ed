// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SIGN`: −1, 0 or 1.
enum Sign {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    guard node.inputType(0) == .float64 else {
      return try node.numberFunction(.sign, .sign)
    }
    let (input, output) = try node.unaryTensors()
    return UnaryOperator(DoubleFunctions.sign(count: input.shape.elementCount), input: input, output: output)
  }
}
