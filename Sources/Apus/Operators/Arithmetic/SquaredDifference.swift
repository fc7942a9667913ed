// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels

/// `SQUARED_DIFFERENCE`: the square of the difference.
enum SquaredDifference {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    guard operands.type == .int8 else { return try node.binary(.squaredDifference, operands, output: output) }
    let lhs = try node.quantization(of: operands.lhs)
    let rhs = try node.quantization(of: operands.rhs)
    let result = try node.quantization(of: output)
    let twiceLarger = Double(2 * max(lhs.scale, rhs.scale))
    let function = QuantizedSum(
      lhs: QuantizedOperand(
        zeroPoint: lhs.zeroPoint, multiplier: FixedPointMultiplier(Double(lhs.scale) / twiceLarger)),
      rhs: QuantizedOperand(
        zeroPoint: rhs.zeroPoint, multiplier: FixedPointMultiplier(Double(rhs.scale) / twiceLarger)),
      isDifference: true, isSquared: true, leftShift: 7,
      output: QuantizedResult(
        multiplier: FixedPointMultiplier(twiceLarger * twiceLarger / Double(Float(1 << 14) * result.scale)),
        zeroPoint: result.zeroPoint, minimum: -128, maximum: 127))
    let (kernel, choice) = node.kernels.choose(function, isSigned: true, operands.shapes)
    return BinaryOperator(kernel, choice: choice, operands, output: output)
  }
}
