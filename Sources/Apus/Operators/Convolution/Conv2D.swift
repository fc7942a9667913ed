// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `CONV_2D`: each output is a product of a window of NHWC rows with a filter, plus a bias.
///
/// Input `N×H×W×C`, filter `O×h×w×C/groups`, bias `O`, output `N×H′×W′×O`. The filter's channels decide the number
/// of groups.
enum Conv2D {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...3)
    let input = try node.input(0, rank: 4)
    let filter = try node.input(1, rank: 4)
    let (channels, depth) = (filter.shape[0], filter.shape[3])
    guard depth > 0, input.shape[3].isMultiple(of: depth), input.shape[3] > 0 else {
      throw node.malformed(
        "\(depth) channels of the filter do not divide the \(input.shape[3]) of \(input.name)")
    }
    let groups = input.shape[3] / depth
    guard channels > 0, channels.isMultiple(of: groups) else {
      throw node.malformed("\(groups) groups do not divide the \(channels) filters")
    }
    let options = node.options.conv2D
    let window = try node.window(
      over: [input.shape[1], input.shape[2]], taps: [filter.shape[1], filter.shape[2]],
      strides: [options.strideHeight, options.strideWidth],
      dilations: [options.dilationHeight, options.dilationWidth], padding: options.padding)
    let output = try node.output(
      0, shape: [input.shape[0], window[0].places, window[1].places, channels], like: input)
    let types = try node.layerTypes(.convolution, input, filter)
    let bias = try node.bias(2, channels: channels, types: types.biases)
    // Floats are quantized with a zero point if there are several groups, or several different scales.
    var isAsymmetric = groups > 1
    if types.arithmetic == .hybrid, filter.type != .uint8, try node.hasDifferentScales(filter) {
      isAsymmetric = true
    }
    let operands = try node.convolutionOperands(
      types, input: input, filter: filter, isAsymmetric: isAsymmetric,
      hasNarrowBias: bias?.type == .int32)
    let convolution = Convolution(
      batches: input.shape[0], vertical: window[0], horizontal: window[1], inputChannels: input.shape[3],
      outputChannels: channels, groups: groups, operands: operands,
      epilogue: try node.convolutionEpilogue(
        node.activation(options.activation), operands: operands, input: input, filter: filter, bias: bias,
        output: output,
        channels: channels
      ).weightsFirst(ofChannels: operands))
    if let direct = try DirectConvolutionOperator(
      reachesOutside: convolution.reachesOutside, input: input, filter: filter, bias: bias, output: output,
      node: node, { DirectConvolution(convolution) })
    {
      return direct
    }
    return try ProductDraft(
      convolution, input: input, filter: filter, bias: bias, output: output,
      arrangement: filter.type == .float16 ? HalfFilter(count: filter.shape.elementCount) : nil,
      readsPicture: true,
      multiplyAccumulates: Double(output.shape.elementCount) * Double(filter.shape.elementCount / channels),
      node: node)
  }
}

extension Epilogue {
  /// This epilogue in the reference's order of multiplication for filters with a scale per channel: first the
  /// weights' scale, then the image's. The reference's other operators multiply both scales first.
  fileprivate func weightsFirst(ofChannels operands: MatrixOperands) -> Epilogue {
    guard case .hybrid(isAsymmetric: true) = operands,
      case .hybrid(let scales, let minimum, let maximum, _) = self
    else { return self }
    return .hybrid(scales, minimum: minimum, maximum: maximum, areWeightsFirst: true)
  }
}
