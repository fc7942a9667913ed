// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `TRANSPOSE_CONV`: each input pixel adds its products with an `O×h×w×I` filter to a window of the output.
///
/// Inputs: the output's shape, the filter, the data, optionally a bias. The output's size must be one from which
/// a convolution with these strides makes the input's.
enum TransposeConv {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...4)
    let shapeInput = try node.input(0, types: [.int32], rank: 1)
    let filter = try node.input(1, rank: 4)
    let input = try node.input(2, types: [.float32, .uint8, .int8, .int16], rank: 4)
    let dimensions = try node.integers(of: shapeInput)
    guard dimensions.count == 4 else {
      throw node.malformed("\(shapeInput.name) has \(dimensions.count) values, not 4")
    }
    let channels = filter.shape[0]
    guard filter.shape.elementCount > 0, input.shape[1] > 0, input.shape[2] > 0,
      input.shape[3] == filter.shape[3]
    else { throw node.malformed("a filter of \(filter.shape) does not fit \(input.name), \(input.shape)") }
    guard dimensions[0] == input.shape[0], dimensions[1] > 0, dimensions[2] > 0, dimensions[3] == channels
    else {
      throw node.malformed("\(input.name), \(input.shape), cannot become \(TensorShape(dimensions))")
    }
    let options = node.options.transposeConv
    let padding = try options.padding
    guard padding == 0 || padding == 1 else { throw node.malformed("padding \(padding) is unknown") }
    let vertical = try axis(
      input: input.shape[1], output: dimensions[1], filter: filter.shape[1],
      stride: options.strideHeight, isSame: padding == 0, node: node)
    let horizontal = try axis(
      input: input.shape[2], output: dimensions[2], filter: filter.shape[2],
      stride: options.strideWidth, isSame: padding == 0, node: node)
    let output = try node.output(0, shape: TensorShape(dimensions), like: input)
    let types = try node.layerTypes(.transposed, input, filter)
    let bias = try node.bias(3, channels: channels, types: types.biases)
    let operands = try node.convolutionOperands(
      types, input: input, filter: filter, isAsymmetric: true,
      hasNarrowBias: node.isNarrow(bias, declared: options.biasType))
    return try TransposedProduct.prepare(
      .init(
        input: input, filter: filter, bias: bias, output: output, vertical: vertical,
        horizontal: horizontal, operands: operands,
        epilogue: try node.convolutionEpilogue(
          node.activation(options.activation), operands: operands, input: input, filter: filter, bias: bias,
          output: output,
          channels: channels)),
      node: node)
  }

  /// The windows over an axis of the output, whose places are the inputs.
  private static func axis(
    input: Int, output: Int, filter: Int, stride: Int, isSame: Bool, node: Node
  ) throws(ApusError) -> WindowAxis {
    guard stride > 0, stride <= 32_767 else {
      throw node.malformed("the stride \(stride) is not in 1 to 32767")
    }
    let axis = WindowAxis(size: output, taps: filter, stride: stride, isSame: isSame)
    guard axis.places == input else {
      throw node.malformed(
        "\(output) outputs with a filter of \(filter) and a stride of \(stride) would have \(axis.places) inputs, not \(input)"
      )
    }
    return axis
  }
}
