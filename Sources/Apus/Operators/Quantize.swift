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
      return UnaryOperator(try kernel(input, output, node), input: input, output: output)
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
        multiplier: FixedPointMultiplier(Double(source.scale) / Double(target.scale)),
        zeroPoint: target.zeroPoint,
        minimum: Int32(range.lowerBound), maximum: Int32(range.upperBound)))
    return try rescaling.operation(input: input, output: output, node: node)
  }

  private static func kernel(
    _ input: TensorSlot, _ output: TensorSlot, _ node: Node
  ) throws(ApusError) -> any UnaryKernel {
    let parameters = try node.channelQuantization(of: output)
    let range = Int32(output.type.integerRange.lowerBound)...Int32(output.type.integerRange.upperBound)
    let slices = zip(parameters.scales, parameters.zeroPoints).map {
      FloatQuantization(scale: $0, zeroPoint: Int32($1), range: range)
    }
    let isWord = output.type == .int16
    if let only = slices.first, slices.count == 1 {
      let count = input.shape.elementCount
      return isWord ? only.words(count: count) : only.bytes(count: count)
    }
    let (outer, inner) = try node.slices(of: input.shape, by: parameters, of: output)
    return ChannelQuantization(slices: slices, outerCount: outer, innerCount: inner, isWord: isWord)
  }
}

/// `DEQUANTIZE`: integers, or floats of 16 bits, to floats.
enum Dequantize {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.uint8, .int8, .int16, .int4, .uint4, .int2, .float16])
    let output = try node.output(0, shape: input.shape, types: [.float32])
    return UnaryOperator(try kernel(input, node), input: input, output: output)
  }

  private static func kernel(_ input: TensorSlot, _ node: Node) throws(ApusError) -> any UnaryKernel {
    let count = input.shape.elementCount
    if input.type == .float16 { return Dequantization.halves(count: count) }
    let parameters = try node.channelQuantization(of: input)
    let slices = zip(parameters.scales, parameters.zeroPoints).map {
      Dequantization(scale: $0, zeroPoint: Int32($1))
    }
    let isSigned = input.type != .uint8 && input.type != .uint4
    guard slices.count == 1 else {
      guard input.type != .int16 else { throw node.unsupported("int16 with a scale for each channel") }
      let (outer, inner) = try node.slices(of: input.shape, by: parameters, of: input)
      return ChannelDequantization(slices: slices, outerCount: outer, innerCount: inner, isSigned: isSigned)
    }
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      return slices[0].words(count: count)
    }
    return slices[0].bytes(isSigned: isSigned, count: count)
  }
}

extension Node {
  /// The layout of a tensor with a scale for each slice: the number of runs of slices, and a slice's length.
  fileprivate func slices(
    of shape: TensorShape, by parameters: QuantizationParameters, of slot: TensorSlot
  ) throws(ApusError) -> (outer: Int, inner: Int) {
    let axis = parameters.quantizedDimension
    guard axis >= 0, axis < shape.rank, shape[axis] == parameters.scales.count else {
      throw malformed("\(slot.name), \(shape), has \(parameters.scales.count) scales along axis \(axis)")
    }
    let inner = shape.elementCount(in: axis + 1..<shape.rank)
    return (shape.elementCount == 0 ? 0 : shape.elementCount(in: 0..<axis), inner)
  }
}
