// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SQRT`: the square root; a quantized value below zero is an error of the data.
enum Sqrt {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    let count = input.shape.elementCount
    guard input.type != .float32 else {
      return UnaryOperator(FloatFunction.squareRoot, input: input, output: output, using: node.kernels)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    try node.requireNoZeroPoint(ofInt16: input, output)
    let function = QuantizedSquareRoot(
      inputScale: source.scale, inputZeroPoint: source.zeroPoint, outputScale: target.scale,
      outputZeroPoint: target.zeroPoint, range: output.type.integerRange)
    let (kernel, choice) =
      input.type == .int16
      ? (function.words(count: count), .plain)
      : ByteTable(isSigned: true) { function($0) }.choose(count: count, using: node.kernels)
    return RootOperator(
      kernel, choice: choice, input: input, output: output, zeroPoint: source.zeroPoint, place: node.place)
  }
}
