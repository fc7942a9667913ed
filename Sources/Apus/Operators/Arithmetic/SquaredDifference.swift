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
    let factors = ScaleFactor.Sum(lhs.scale, rhs.scale)
    let leftShift: Int32 = 7
    let function = QuantizedSum(
      lhs: QuantizedOperand(zeroPoint: lhs.zeroPoint, multiplier: FixedPointMultiplier(factors.lhs)),
      rhs: QuantizedOperand(zeroPoint: rhs.zeroPoint, multiplier: FixedPointMultiplier(factors.rhs)),
      isDifference: true, isSquared: true, leftShift: leftShift,
      output: QuantizedResult(
        multiplier: FixedPointMultiplier(factors.square(leftShift: leftShift, over: result.scale)),
        zeroPoint: result.zeroPoint, minimum: -128, maximum: 127))
    let (kernel, choice) = node.kernels.choose(function, isSigned: true, operands.shapes)
    return BinaryOperator(kernel, choice: choice, operands, output: output)
  }
}
