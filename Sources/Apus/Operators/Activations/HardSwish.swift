// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `HARD_SWISH`: `x · min(6, max(0, x + 3)) / 6`.
enum HardSwish {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    guard input.type != .float32 else {
      return UnaryOperator(FloatFunction.hardSwish, input: input, output: output, using: node.kernels)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    guard
      let function = QuantizedHardSwish(
        inputScale: source.scale, inputZeroPoint: source.zeroPoint, outputScale: target.scale,
        outputZeroPoint: target.zeroPoint, range: output.type.integerRange)
    else {
      throw node.unsupported("\(output.name) has the scale \(target.scale), below 1/128 of the input's")
    }
    let table = ByteTable(isSigned: input.type == .int8) { function($0) }
    return UnaryOperator(table, input: input, output: output, using: node.kernels)
  }
}
