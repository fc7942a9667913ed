// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `PRELU`: below zero, the product with the second input, which broadcasts to the first.
enum PRelu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float32, .uint8, .int8, .int16])
    let alpha = try node.input(1, types: [input.type == .int16 ? .int8 : input.type])
    let shapes = try node.broadcastShapes(input, alpha)
    guard TensorShape(shapes.result) == input.shape else {
      throw node.malformed("\(alpha.name), \(alpha.shape), does not broadcast to \(input.shape)")
    }
    let output = try node.output(0, shape: input.shape, like: input)
    let operands = BinaryOperands(lhs: input, rhs: alpha, shapes: shapes)
    let count = alpha.shape.elementCount
    let isPerChannel = count == alpha.shape.dimensions.last && count == input.shape.dimensions.last
    guard input.type != .float32 else {
      // One factor for all, or one for each channel.
      let isAbsorbable = alpha.isConstant && (count == 1 || isPerChannel)
      let form = isAbsorbable ? BinaryOperator.Form.parametricRelu(factors: try node.values(of: alpha)) : nil
      return try node.binary(.parametricRelu, operands, output: output, form: form)
    }
    let source = try node.quantization(of: input).scale
    let factor = try node.quantization(of: alpha)
    let target = try node.quantization(of: output).scale
    let function = QuantizedParametricRelu(
      positive: try node.rescaling(ScaleFactor.narrow(source, over: target), from: input, to: output),
      alphaZeroPoint: factor.zeroPoint,
      negative: FixedPointMultiplier(ScaleFactor.narrow(source, factor.scale, over: target)))
    let isSigned = input.type == .int8
    if isSigned || input.type == .uint8, alpha.isConstant, count == 1 || isPerChannel {
      let factors: [Int32] =
        isSigned
        ? try node.values(of: alpha, as: Int8.self).map { Int32($0) }
        : try node.values(of: alpha, as: UInt8.self).map { Int32($0) }
      if count == 1, let factor = factors.first {
        let table = function.table(isSigned: isSigned, factor: factor)
        return UnaryOperator(table, input: input, output: output, using: node.kernels)
      }
      let rows = input.shape.elementCount / max(count, 1)
      if rows >= QuantizedParametricRelu.minimumRows {
        let (kernel, choice) = function.choose(
          isSigned: isSigned, rows: rows, factors: factors, using: node.kernels)
        return UnaryOperator(kernel, choice: choice, input: input, output: output)
      }
    }
    guard let type = input.type.scalarType(in: .numbers), let kernel = function.kernel(type, shapes) else {
      throw node.unsupported("\(input.type) is not supported")
    }
    return BinaryOperator(kernel, choice: .plain, operands, output: output)
  }
}
