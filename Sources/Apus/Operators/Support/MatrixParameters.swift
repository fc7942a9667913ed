import ApusKernels

extension Node {
  /// The operands of a product of an input and a filter of the same scheme.
  func operands(input: TensorSlot, filter: TensorSlot) throws(ApusError) -> MatrixOperands {
    switch (input.type, filter.type) {
    case (.float32, .float32): return .float32
    case (.uint8, .uint8):
      return .uint8(
        lhsZeroPoint: try quantization(of: input).zeroPoint, rhsZeroPoint: try quantization(of: filter).zeroPoint)
    case (.int8, .int8), (.int8, .int4):
      return .int8(lhsZeroPoint: try quantization(of: input).zeroPoint, rhsZeroPoint: 0)
    default:
      throw unsupported("an input of \(input.type) with a filter of \(filter.type) is not supported")
    }
  }

  /// The bias of `channels` channels, if there is one, in the type that the operands need.
  func bias(_ position: Int, channels: Int, operands: MatrixOperands) throws(ApusError) -> TensorSlot? {
    let type: ElementType = operands == .float32 ? .float32 : .int32
    guard let bias = try optionalInput(position, types: [type]) else { return nil }
    guard bias.shape.elementCount == channels else {
      throw malformed("the bias \(bias.name) has \(bias.shape.elementCount) values for \(channels) channels")
    }
    return bias
  }

  /// The epilogue of a convolution: for integers, the reference's fixed point with two roundings.
  ///
  /// The scale of a `uint8` product is formed in single precision, that of an `int8` one in double, as the reference
  /// has it.
  func convolutionEpilogue(
    _ activation: FusedActivation, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot,
    channels: Int, channelAxis: Int
  ) throws(ApusError) -> Epilogue {
    if input.type == .float32 { return floatEpilogue(activation) }
    let inputScale = try quantization(of: input).scale
    let (outputScale, zeroPoint) = try quantization(of: output)
    let filterScales = try channelScales(of: filter, channels: channels, axis: channelAxis)
    let multipliers = filterScales.map { filterScale in
      let product =
        input.type == .uint8 ? Double(inputScale * filterScale) : Double(inputScale) * Double(filterScale)
      return FixedPointMultiplier(product / Double(outputScale))
    }
    try checkBiasScale(bias, inputScale: inputScale, filterScales: filterScales, outputScale: outputScale)
    let bounds = try quantizedBounds(activation, of: output)
    return .fixedPoint(multipliers, zeroPoint: zeroPoint, minimum: bounds.minimum, maximum: bounds.maximum)
  }

  /// The bounds of a fused activation on floats.
  func floatEpilogue(_ activation: FusedActivation) -> Epilogue {
    let bounds = activation.bounds ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
    return .float32(minimum: bounds.minimum, maximum: bounds.maximum)
  }

  /// A filter's scale, or its scales for each output channel.
  func channelScales(of filter: TensorSlot, channels: Int, axis: Int) throws(ApusError) -> [Float] {
    let parameters = try channelQuantization(of: filter)
    if parameters.isPerChannel {
      guard filter.type != .uint8 else {
        throw unsupported("\(filter.name) is uint8 with a scale for each channel")
      }
      guard parameters.scales.count == channels, parameters.quantizedDimension == axis else {
        throw malformed(
          "\(filter.name) has \(parameters.scales.count) scales along axis \(parameters.quantizedDimension), "
            + "not \(channels) along axis \(axis)")
      }
    }
    return parameters.scales
  }

  /// Refuses a bias whose scale is far from that of the products to which it is added.
  func checkBiasScale(
    _ bias: TensorSlot?, inputScale: Float, filterScales: [Float], outputScale: Float
  ) throws(ApusError) {
    guard let bias, filterScales.count == 1, let scale = bias.quantization?.scales.first else { return }
    let difference = abs(Double(inputScale * filterScales[0]) - Double(scale))
    guard difference / Double(outputScale) <= 0.02 else {
      throw malformed(
        "the bias \(bias.name) has the scale \(scale), not the product of those of input and filter, "
          + "\(inputScale * filterScales[0])")
    }
  }
}
