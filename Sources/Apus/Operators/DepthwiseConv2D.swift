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
      throw node.malformed("\(channels) filters do not divide among the \(input.shape[3]) channels of \(input.name)")
    }
    let window = try Window(
      node: node, input: input, filterHeight: filter.shape[1], filterWidth: filter.shape[2], paddingField: 0,
      strideWidthField: 1, strideHeightField: 2, dilationFields: (width: 5, height: 6))
    let output = try node.output(
      0, shape: [input.shape[0], window.outputHeight, window.outputWidth, channels], like: input)
    let operands = try node.operands(input: input, filter: filter)
    let bias = try node.bias(2, channels: channels, operands: operands)
    let convolution = DepthwiseConvolution(
      batches: input.shape[0], inputHeight: input.shape[1], inputWidth: input.shape[2],
      inputChannels: input.shape[3], depthMultiplier: channels / input.shape[3], filterHeight: filter.shape[1],
      filterWidth: filter.shape[2], outputHeight: window.outputHeight, outputWidth: window.outputWidth,
      strideHeight: window.strideHeight, strideWidth: window.strideWidth, dilationHeight: window.dilationHeight,
      dilationWidth: window.dilationWidth, paddingTop: window.paddingTop, paddingLeft: window.paddingLeft,
      operands: operands,
      epilogue: try node.convolutionEpilogue(
        node.activationOption(4), input: input, filter: filter, bias: bias, output: output, channels: channels,
        channelAxis: 3))
    return try WeightedProduct(
      node.kernels.prepare(convolution), input: input, filter: filter, bias: bias, output: output,
      multiplyAccumulates: Double(output.shape.elementCount) * Double(filter.shape[1] * filter.shape[2]), node: node)
  }
}
