// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `FLOOR_MOD`: the remainder of a division that rounds down.
enum FloorMod {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let function = try node.binary(.floorModulo, operands, output: output)
    return operands.type == .float32
      ? function : DivisorCheck(.equal(0), of: operands.rhs, before: function, node: node)
  }
}
