// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `DEQUANTIZE`: integers, or floats of 16 bits, to floats.
enum Dequantize {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.uint8, .int8, .int16, .int4, .uint4, .int2, .float16])
    let output = try node.output(0, shape: input.shape, types: [.float32])
    let (kernel, choice) = try kernel(input, node)
    return UnaryOperator(kernel, choice: choice, input: input, output: output)
  }

  /// The kernel that makes floats of a tensor.
  static func kernel(
    _ input: TensorSlot, _ node: Node
  ) throws(ApusError) -> KernelSet.Chosen<any UnaryKernel> {
    let count = input.shape.elementCount
    if input.type == .float16 { return (Dequantization.halves(count: count), .plain) }
    let parameters = try node.channelQuantization(of: input)
    try node.keep(tablesOf: parameters.scales.count, entryByteCount: 64)
    let slices = zip(parameters.scales, parameters.zeroPoints).map {
      Dequantization(scale: $0, zeroPoint: Int32($1))
    }
    let isSigned = input.type.isSignedInteger
    guard slices.count == 1 else {
      guard input.type != .int16 else { throw node.unsupported("int16 with a scale for each channel") }
      let (outer, inner) = try node.slices(of: input.shape, by: parameters, of: input)
      let kernel = ChannelDequantization(
        slices: slices, outerCount: outer, innerCount: inner, isSigned: isSigned)
      return (kernel, .plain)
    }
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      return (slices[0].words(count: count), .plain)
    }
    return slices[0].chooseBytes(isSigned: isSigned, count: count, using: node.kernels)
  }
}
