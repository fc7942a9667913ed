// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `FLOOR_DIV`: the quotient, rounded down.
enum FloorDiv {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let function = try node.binary(.floorDivide, operands, output: output)
    return DivisorCheck(
      operands.type == .float32 ? .zeroFloat : .equal(0), of: operands.rhs, before: function, node: node)
  }
}
