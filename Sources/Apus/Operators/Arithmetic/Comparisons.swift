// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER and GREATER_EQUAL.
enum Comparisons {
  /// The preparation of an operator that tests a relation.
  static func prepare(
    _ relation: Comparison
  ) -> @Sendable (Node) throws(ApusError) -> any Operator {
    { (node: Node) throws(ApusError) -> any Operator in
      let isEquality = relation == .equal || relation == .notEqual
      let operands = try BinaryOperands(node)
      let output = try node.output(0, shape: operands.resultShape, types: [.bool])
      let isQuantizedWord = isEquality && operands.type == .int16 && operands.lhs.quantization != nil
      let kernel: any BinaryKernel
      if operands.type == .uint8 || operands.type == .int8 {
        kernel = relation.bytes(
          isSigned: operands.type == .int8, try node.comparable(operands.lhs),
          try node.comparable(operands.rhs),
          operands.shapes)
      } else if isQuantizedWord {
        kernel = relation.words(
          try node.comparable(operands.lhs), try node.comparable(operands.rhs), operands.shapes)
      } else {
        kernel = relation.kernel(
          operands.type == .bool ? .bool : operands.type.scalarType(in: .numbers) ?? .int32, operands.shapes)
      }
      return BinaryOperator(kernel, choice: .plain, operands, output: output)
    }
  }
}

extension Node {
  fileprivate func comparable(_ slot: TensorSlot) throws(ApusError) -> QuantizedOperand {
    let (scale, zeroPoint) = try quantization(of: slot)
    return QuantizedOperand(zeroPoint: zeroPoint, multiplier: FixedPointMultiplier(Double(scale)))
  }
}
