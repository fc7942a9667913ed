// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `DIV`: the quotient of two tensors that broadcast to each other, clamped by an activation.
enum Div {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node, types: [.float32, .uint8, .int8, .int16, .int32])
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let activation = try node.activationOption(0)
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
          multiplier: FixedPointMultiplier(Double(lhs.scale / (rhs.scale * result.scale))),
          zeroPoint: result.zeroPoint, minimum: bounds.minimum, maximum: bounds.maximum))
      guard let type = operands.type.numberType, let kernel = quotient.kernel(type, operands.shapes) else {
        throw node.unsupported("\(operands.type) is not supported")
      }
      return DivisorCheck(
        .equal(Int(rhs.zeroPoint)), of: operands.rhs,
        before: BinaryOperator(kernel, operands, output: output),
        node: node)
    }
  }
}

/// `FLOOR_DIV`: the quotient, rounded down.
enum FloorDiv {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node, types: [.float32, .int8, .int16, .int32])
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let function = try node.binary(.floorDivide, operands, output: output)
    return DivisorCheck(
      operands.type == .float32 ? .zeroFloat : .equal(0), of: operands.rhs, before: function, node: node)
  }
}

/// `FLOOR_MOD`: the remainder of a division that rounds down.
enum FloorMod {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node, types: [.float32, .int8, .int16, .int32, .int64])
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let function = try node.binary(.floorModulo, operands, output: output)
    return operands.type == .float32
      ? function : DivisorCheck(.equal(0), of: operands.rhs, before: function, node: node)
  }
}

/// `POW`: powers; integers take no negative exponents.
enum Pow {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node, types: [.float32, .int32])
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    // With one exponent for all, the reference multiplies; otherwise it computes in double precision.
    let isShared = operands.rhs.shape.elementCount == 1 && operands.lhs.shape != operands.rhs.shape
    let function = try node.binary(.power(wraps: isShared), operands, output: output)
    return operands.type == .float32
      ? function : DivisorCheck(.negative, of: operands.rhs, before: function, node: node)
  }
}

/// `SQUARED_DIFFERENCE`: the square of the difference.
enum SquaredDifference {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node, types: [.float32, .int8, .int32])
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

extension Node {
  /// A function of two tensors of unquantized numbers.
  func binary(
    _ function: NumberFunction, _ operands: BinaryOperands, output: TensorSlot,
    form: BinaryOperator.Form? = nil
  ) throws(ApusError) -> BinaryOperator {
    if operands.type == .float32, let operation = function.ofFloats {
      let (kernel, choice) = kernels.choose(operation, operands.shapes)
      return BinaryOperator(kernel, choice: choice, operands, output: output, form: form)
    }
    let type = operands.type == .bool ? .uint8 : operands.type.numberType
    guard let type, let kernel = function.kernel(type, operands.shapes) else {
      throw unsupported("\(operands.type) is not supported")
    }
    return BinaryOperator(kernel, operands, output: output, form: form)
  }
}
