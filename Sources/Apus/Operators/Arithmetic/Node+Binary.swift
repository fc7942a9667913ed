// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels

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
    let type = operands.type == .bool ? .uint8 : operands.type.scalarType(in: .numbers)
    guard let type, let kernel = function.kernel(type, operands.shapes) else {
      throw unsupported("\(operands.type) is not supported")
    }
    return BinaryOperator(kernel, choice: .plain, operands, output: output, form: form)
  }
}
