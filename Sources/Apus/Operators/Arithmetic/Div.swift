// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `DIV`: the quotient of two tensors that broadcast to each other, clamped by an activation.
enum Div {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let activation = try node.activation(node.options.div.activation)
    switch operands.type {
    case .float32, .int32:
      let bounds = activation.bounds ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
      let function = try node.binary(
        .divide(minimum: bounds.minimum, maximum: bounds.maximum), operands, output: output)
      if operands.type == .float32 { return function }
      return DivisorCheck(.equal(0), of: operands.rhs, before: function, node: node)
    default:
      let lhs = try node.quantization(of: operands.lhs)
      let rhs = try node.quantization(of: operands.rhs)
      let result = try node.quantization(of: output)
      let bounds = try node.quantizedBounds(activation, of: output)
      let quotient = QuantizedQuotient(
        lhsZeroPoint: lhs.zeroPoint, rhsZeroPoint: rhs.zeroPoint,
        output: QuantizedResult(
          multiplier: FixedPointMultiplier(
            ScaleFactor.quotient(lhs.scale, by: rhs.scale, over: result.scale)),
          zeroPoint: result.zeroPoint, minimum: bounds.minimum, maximum: bounds.maximum))
      guard let type = operands.type.scalarType(in: .numbers),
        let kernel = quotient.kernel(type, operands.shapes)
      else {
        throw node.unsupported("\(operands.type) is not supported")
      }
      return DivisorCheck(
        .equal(Int(rhs.zeroPoint)), of: operands.rhs,
        before: BinaryOperator(kernel, choice: .plain, operands, output: output),
        node: node)
    }
  }
}
