// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `QUANTIZE`: floats to integers by a scale and a zero point, or integers from one quantization to another.
enum Quantize {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32, .uint8, .int8, .int16, .int32])
    let targets: [ElementType] =
      switch input.type {
      case .float32: [.uint8, .int8, .int16, .int4, .uint4]
      case .int16: [.int8, .int16, .int32]
      case .int32: [.int8, .int16]
      default: [.uint8, .int8, .int16]
      }
    let output = try node.output(0, shape: input.shape, types: targets)
    if input.type == .float32 {
      let (kernel, choice) = try kernel(input, output, node)
      return UnaryOperator(kernel, choice: choice, input: input, output: output)
    }
    if input.type == .int16, output.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    let range = output.type.integerRange
    let rescaling = Rescaling(
      zeroPoint: source.zeroPoint,
      output: QuantizedResult(
        multiplier: FixedPointMultiplier(ScaleFactor.wide(source.scale, over: target.scale)),
        zeroPoint: target.zeroPoint,
        minimum: Int32(range.lowerBound), maximum: Int32(range.upperBound)))
    return try rescaling.operation(input: input, output: output, node: node)
  }

  private static func kernel(
    _ input: TensorSlot, _ output: TensorSlot, _ node: Node
  ) throws(ApusError) -> KernelSet.Chosen<any UnaryKernel> {
    let parameters = try node.channelQuantization(of: output)
    try node.keep(tablesOf: parameters.scales.count, entryByteCount: 64)
    let range = Int32(output.type.integerRange.lowerBound)...Int32(output.type.integerRange.upperBound)
    let slices = zip(parameters.scales, parameters.zeroPoints).map {
      FloatQuantization(scale: $0, zeroPoint: Int32($1), range: range)
    }
    let isWord = output.type == .int16
    if let only = slices.first, slices.count == 1 {
      let count = input.shape.elementCount
      return isWord ? (only.words(count: count), .plain) : only.chooseBytes(count: count, using: node.kernels)
    }
    let (outer, inner) = try node.slices(of: input.shape, by: parameters, of: output)
    return (ChannelQuantization(slices: slices, outerCount: outer, innerCount: inner, isWord: isWord), .plain)
  }
}
