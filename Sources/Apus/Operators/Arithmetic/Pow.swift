// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `POW`: powers; integers take no negative exponents.
enum Pow {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    // With one exponent for all, the reference multiplies; otherwise it computes in double precision.
    let isShared = operands.rhs.shape.elementCount == 1 && operands.lhs.shape != operands.rhs.shape
    if isShared, operands.type == .float32, operands.rhs.isConstant,
      try node.values(of: operands.rhs, as: Float.self) == [2]
    {
      return UnaryOperator(.square, input: operands.lhs, output: output, using: node.kernels)
    }
    let function = try node.binary(.power(wraps: isShared), operands, output: output)
    return operands.type == .float32
      ? function : DivisorCheck(.negative, of: operands.rhs, before: function, node: node)
  }
}
