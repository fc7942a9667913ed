// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Operators on two tensors of plain numbers or Booleans: LOGICAL_AND, LOGICAL_OR, BITWISE_XOR, RIGHT_SHIFT.
enum BinaryFunctions {
  /// The preparation of an operator that applies `function` to two operands of one type.
  static func prepare(
    _ function: NumberFunction
  ) -> @Sendable (Node) throws(ApusError) -> any Operator {
    { (node: Node) throws(ApusError) -> any Operator in
      let operands = try BinaryOperands(node)
      let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
      return try node.binary(function, operands, output: output)
    }
  }
}
