// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels

extension Extremum {
  func prepared(_ node: Node) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    if operands.type == .float32 {
      let (kernel, choice) = node.kernels.choose(ofFloats, operands.shapes)
      return BinaryOperator(kernel, choice: choice, operands, output: output)
    }
    guard let type = operands.type.scalarType(in: .numbers) else {
      throw node.unsupported("\(operands.type) is not supported")
    }
    return BinaryOperator(kernel(type, operands.shapes), choice: .plain, operands, output: output)
  }
}
