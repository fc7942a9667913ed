// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `ATAN2`: the angle of a point; the first input is y, the second x.
enum Atan2 {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    guard operands.lhs.shape == operands.rhs.shape else {
      throw node.malformed("the inputs are \(operands.lhs.shape) and \(operands.rhs.shape), not of one shape")
    }
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    if operands.type == .float64 {
      return BinaryOperator(
        DoubleFunctions.arcTangent(operands.shapes), choice: .plain, operands, output: output)
    }
    return try node.binary(.arcTangent, operands, output: output)
  }
}
