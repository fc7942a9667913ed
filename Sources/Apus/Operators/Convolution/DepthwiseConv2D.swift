// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `DEPTHWISE_CONV_2D`: each channel is convolved with filters of its own.
///
/// Input `N×H×W×C`, filter `1×h×w×(C·multiplier)`, output channel `c·multiplier + m`.
enum DepthwiseConv2D {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...3)
    let input = try node.input(0, rank: 4)
    let filter = try node.input(1, rank: 4)
    let channels = filter.shape[3]
    guard filter.shape[0] == 1 else {
      throw node.malformed("the filter \(filter.name) is \(filter.shape); its first dimension must be 1")
    }
    guard input.shape[3] > 0, channels > 0, channels.isMultiple(of: input.shape[3]) else {
      throw node.malformed(
        "\(channels) filters do not divide among the \(input.shape[3]) channels of \(input.name)")
    }
    let options = node.options.depthwiseConv2D
    let window = try node.window(
      over: [input.shape[1], input.shape[2]], taps: [filter.shape[1], filter.shape[2]],
      strides: [options.strideHeight, options.strideWidth],
      dilations: [options.dilationHeight, options.dilationWidth], padding: options.padding)
    let output = try node.output(
      0, shape: [input.shape[0], window[0].places, window[1].places, channels], like: input)
    let types = try node.layerTypes(.depthwise, input, filter)
    let bias = try node.bias(2, channels: channels, types: types.biases)
    let operands = try node.convolutionOperands(
      types, input: input, filter: filter, isAsymmetric: true, hasNarrowBias: false)
    let epilogue = try node.convolutionEpilogue(
      node.activation(options.activation), operands: operands, input: input, filter: filter, bias: bias,
      output: output, channels: channels)
    var convolution = Convolution(
      batches: input.shape[0], vertical: window[0], horizontal: window[1], inputChannels: input.shape[3],
      outputChannels: channels, isDepthwise: true, operands: operands,
      epilogue: filter.type == .int4 && node.version > 6 ? epilogue.upward : epilogue)
    if let direct = try DirectConvolutionOperator(
      reachesOutside: convolution.reachesOutside, input: input, filter: filter, bias: bias, output: output,
      node: node, { DirectConvolution(convolution) })
    {
      return direct
    }
    // A single input channel is one group either way: only the filter is arranged differently.
    let isProduct = SingleChannelFilter.isFaster(input: input, filter: filter)
    if isProduct { convolution.isDepthwise = false }
    return try ProductDraft(
      convolution, input: input, filter: filter, bias: bias, output: output,
      arrangement: isProduct
        ? SingleChannelFilter(shape: filter.shape, width: filter.type.byteCount ?? 1) : nil,
      readsPicture: true,
      multiplyAccumulates: Double(output.shape.elementCount) * Double(convolution.taps), node: node)
  }
}

/// The filters of one channel, `1×h×w×O`, as those of a CONV_2D, `O×h×w×1`: the same sums, for which products have the
/// faster kernels.
private struct SingleChannelFilter: FilterArrangement {
  let shape: TensorShape
  /// Bytes of a weight.
  let width: Int

  static func isFaster(input: TensorSlot, filter: TensorSlot) -> Bool {
    guard input.shape[3] == 1, filter.shape[3] >= minimumFilters, filter.shape.elementCount > 0 else {
      return false
    }
    switch (input.type, filter.type) {
    case (.float32, .float32), (.int8, .int8), (.uint8, .uint8): return true
    default: return false
    }
  }

  /// The minimum number of filters.
  private static let minimumFilters = 2

  var byteCount: Int { shape.elementCount * width }
  var name: String { "one channel, \(shape)" }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    ElementRuns.transpose(
      filter, rows: shape[1] * shape[2], columns: shape[3], count: 1, width: width, into: &arranged)
  }
}

extension Epilogue {
  /// This epilogue with the rounding of version 7's only kernel for depthwise convolutions with int4 weights;
  /// the reference set ends at version 6.
  fileprivate var upward: Epilogue {
    guard case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum) = self else {
      return self
    }
    return .fixedPointUpward(multipliers, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
  }
}
