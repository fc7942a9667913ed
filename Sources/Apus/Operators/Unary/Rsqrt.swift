// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RSQRT`: one over the square root; a quantized value below zero is an error of the data.
enum Rsqrt {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    let count = input.shape.elementCount
    guard input.type != .float32 else {
      return UnaryOperator(FloatFunction.inverseSquareRoot, input: input, output: output, using: node.kernels)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
      let kernel = WordFunction.kernel(
        inputScale: source.scale, inputZeroPoint: 0, outputScale: target.scale, outputZeroPoint: 0,
        count: count
      ) { $0 <= 0 ? 32767 * target.scale : FloatFunction.inverseSquareRoot($0) }
      return RootOperator(
        kernel, choice: .plain, input: input, output: output, zeroPoint: 0, place: node.place)
    }
    let factor = ScaleFactor.inverseRoot(source.scale, over: target.scale)
    let function = QuantizedInverseSquareRoot(try node.rescaling(factor, from: input, to: output))
    let (kernel, choice) = ByteTable(isSigned: true) { function($0) }.choose(
      count: count, using: node.kernels)
    return RootOperator(
      kernel, choice: choice, input: input, output: output, zeroPoint: source.zeroPoint, place: node.place)
  }
}
