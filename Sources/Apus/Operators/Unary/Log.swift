// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `LOG`: the natural logarithm; quantized values without one give the minimum.
enum Log {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    guard input.type != .float32 else { return try node.realFunction(.log, input: input, output: output) }
    try node.requireNoZeroPoint(ofInt16: input, output)
    let (scale, zeroPoint) = try node.quantization(of: output)
    let least = Float(output.type.integerRange.lowerBound - Int(zeroPoint)) * scale
    return try node.realFunction(
      .log, input: input, output: output, quantized: { $0 <= 0 ? least : FloatFunction.log($0) })
  }
}
