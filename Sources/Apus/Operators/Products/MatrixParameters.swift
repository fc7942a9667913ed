// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusFormat
import ApusKernels

extension Node {
  /// The operands of a convolution of an input with a filter.
  ///
  /// - Parameters:
  ///   - isAsymmetric: whether float activations are quantized with a zero point.
  ///   - hasNarrowBias: whether sums of 16-bit activations have 32 bits.
  func convolutionOperands(
    _ types: LayerTypes, input: TensorSlot, filter: TensorSlot, isAsymmetric: Bool, hasNarrowBias: Bool
  ) throws(ApusError) -> MatrixOperands {
    switch types.arithmetic {
    case .floats: return .float32
    case .hybrid: return .hybrid(isAsymmetric: isAsymmetric)
    case .unsigned:
      return .uint8(
        lhsZeroPoint: try quantization(of: input).zeroPoint,
        rhsZeroPoint: try quantization(of: filter).zeroPoint)
    case .signed:
      return .int8(lhsZeroPoint: try quantization(of: input).zeroPoint, rhsZeroPoint: 0)
    case .words:
      // The reference reads the bytes of an int16 filter as int8 weights.
      try requireNoZeroPoint(input)
      return .int16(weightByteCount: 1, biasByteCount: hasNarrowBias ? 4 : 8)
    }
  }

  /// Whether a filter has several scales that differ.
  func hasDifferentScales(_ filter: TensorSlot) throws(ApusError) -> Bool {
    let scales = try channelQuantization(of: filter).scales
    return scales.contains { $0 != scales[0] }
  }

  /// The maximum number of output channels.
  private static let channelLimit = 1 << 23
  /// The memory that kernels keep per channel besides packed weights: its scale, factors and bounds.
  private static let channelByteCount = 64
  /// The memory that kernels keep per panel and group: factors in vectors, in two forms.
  private static let panelByteCount = 3 << 10
  private static let panelColumnCount = 64
  /// The memory that kernels keep per tap of a filter: its offset.
  private static let tapByteCount = 16

  /// Refuses more channels than kernels are made for, and counts what they keep of them.
  func keepChannels(_ count: Int) throws(ApusError) {
    guard count <= Self.channelLimit else {
      throw ApusError(
        .resourceLimit, "\(place): has \(count) output channels, more than the limit of \(Self.channelLimit)")
    }
    try keep(tablesOf: count, entryByteCount: Self.channelByteCount)
  }

  /// A kernel for a convolution of tensors of such types, in the precision that was asked for if it has one.
  func kernel(
    for convolution: Convolution, _ input: TensorSlot, _ filter: TensorSlot
  ) throws(ApusError) -> KernelSet.Chosen<any PreparedConvolution> {
    try keepChannels(convolution.outputChannels)
    // No overflow: there are no more groups than channels, and no more taps than the filter has elements.
    if !convolution.isDepthwise {
      let columnCount = convolution.outputChannels / max(convolution.groups, 1)
      let panels = (columnCount + Self.panelColumnCount - 1) / Self.panelColumnCount
      try keep(tablesOf: convolution.groups * panels, entryByteCount: Self.panelByteCount)
    }
    if convolution.isDepthwise || convolution.dilationWidth > 1 || convolution.groups > 1 {
      try keep(tablesOf: convolution.taps, entryByteCount: Self.tapByteCount)
    }
    let (convolution, notes) = inPrecision(convolution, filter)
    guard var chosen = kernels.choose(convolution, isForOneThread: isForOneThread) else {
      throw mismatch(input, filter)
    }
    chosen.choice.notes = notes
    return chosen
  }

  /// A convolution in the precision that was asked for, or as it is and the reason why.
  private func inPrecision(_ convolution: Convolution, _ filter: TensorSlot) -> (Convolution, notes: [String])
  {
    guard context.precision == .bfloat16, convolution.operands == .float32 else { return (convolution, []) }
    do throws(Decline) {
      guard !convolution.isDepthwise else {
        throw Decline("a depthwise convolution is limited by loads, not by products")
      }
      guard filter.isConstant else { throw Decline("the weights come with each run") }
      var rounded = try convolution.roundedToBFloat16()
      do throws(Decline) {
        rounded.operands = .bfloat16(try kernels.convolutions.bfloat16Order(rounded.alongRows))
        return (rounded, [])
      } catch { return (rounded, ["not in tiles: \(error)"]) }
    } catch { return (convolution, ["in float32: \(error)"]) }
  }

  /// The error for a combination of types that no kernel supports.
  func mismatch(_ input: TensorSlot, _ filter: TensorSlot) -> ApusError {
    unsupported("an input of \(input.type) with a filter of \(filter.type) is not supported")
  }

  /// The bias of `channels` channels, if there is one, of one of some types.
  func bias(_ position: Int, channels: Int, types: [ElementType]) throws(ApusError) -> TensorSlot? {
    guard let bias = try optionalInput(position, types: types) else { return nil }
    guard bias.shape.elementCount == channels else {
      throw malformed("the bias \(bias.name) has \(bias.shape.elementCount) values for \(channels) channels")
    }
    return bias
  }

  /// Whether sums of 16-bit activations have a bias of 32 bits: the tensor's type decides, or, without one, the options.
  func isNarrow(_ bias: TensorSlot?, declared type: Int) -> Bool {
    bias.map { $0.type == .int32 } ?? (type == Int(TensorType.int32.rawValue))
  }

  /// The epilogue of a convolution: for integers, the reference's fixed point, with two roundings or, for sums of 64
  /// bits, one.
  ///
  /// The scale of a `uint8` product is computed in single precision, others in double, as in the reference.
  func convolutionEpilogue(
    _ activation: FusedActivation, operands: MatrixOperands, input: TensorSlot, filter: TensorSlot,
    bias: TensorSlot?, output: TensorSlot, channels: Int
  ) throws(ApusError) -> Epilogue {
    switch operands {
    case .float32: return floatEpilogue(activation)
    case .hybrid(let isAsymmetric):
      return try hybridEpilogue(
        activation, filter: filter, channels: channels, isPerChannel: isAsymmetric, isOpen: false)
    default: break
    }
    let inputScale = try quantization(of: input).scale
    let (outputScale, zeroPoint) = try quantization(of: output)
    let filterScales = try channelScales(of: filter, channels: channels)
    let multipliers = filterScales.map { filterScale in
      FixedPointMultiplier(
        input.type == .uint8
          ? ScaleFactor.mixed(inputScale, filterScale, over: outputScale)
          : ScaleFactor.wide(inputScale, filterScale, over: outputScale))
    }
    if input.type == .uint8 {
      try checkBiasScale(bias, inputScale: inputScale, filterScales: filterScales, outputScale: outputScale)
    }
    let bounds = try quantizedBounds(activation, of: output)
    if input.type == .int16 { try requireNoZeroPoint(output) }
    if case .int16(_, 8) = operands {
      return .reducedFixedPoint(multipliers, minimum: bounds.minimum, maximum: bounds.maximum)
    }
    return .fixedPoint(multipliers, zeroPoint: zeroPoint, minimum: bounds.minimum, maximum: bounds.maximum)
  }

  /// The bounds of a fused activation on floats.
  func floatEpilogue(_ activation: FusedActivation) -> Epilogue {
    let bounds = activation.bounds ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
    return .float32(minimum: bounds.minimum, maximum: bounds.maximum)
  }

  /// The epilogue of float products that the reference does not clamp.
  var openEpilogue: Epilogue { .float32(minimum: -.infinity, maximum: .infinity) }

  /// The epilogue of float activations with a quantized filter, by its scale or by its scales.
  ///
  /// - Parameter isOpen: whether infinities pass.
  func hybridEpilogue(
    _ activation: FusedActivation, filter: TensorSlot, channels: Int, isPerChannel: Bool, isOpen: Bool
  ) throws(ApusError) -> Epilogue {
    let bounds =
      (isOpen ? activation.openBounds : activation.bounds)
      ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
    let all = try channelQuantization(of: filter).scales
    let scales = isPerChannel && all.count > 1 ? try channelScales(of: filter, channels: channels) : [all[0]]
    return .hybrid(scales, minimum: bounds.minimum, maximum: bounds.maximum)
  }

  /// A filter's scale, or its scales for each output channel.
  func channelScales(of filter: TensorSlot, channels: Int) throws(ApusError) -> [Float] {
    let parameters = try checkedQuantization(of: filter)
    let count = parameters.scaleCount
    if count > 1 {
      guard filter.type != .uint8 else {
        throw unsupported("\(filter.name) is uint8 with a scale for each channel")
      }
      let axis = parameters.quantizedDimension
      guard count == channels, filter.shape.dimensions.indices.contains(axis),
        filter.shape[axis] == channels
      else {
        throw malformed(
          "\(filter.name) has \(count) scales along axis \(axis), not \(channels) along one of that "
            + "size")
      }
    }
    return parameters.scales
  }

  /// Throws if the scale of a bias is far from that of the products to which it is added.
  func checkBiasScale(
    _ bias: TensorSlot?, inputScale: Float, filterScales: [Float], outputScale: Float
  ) throws(ApusError) {
    guard let bias, filterScales.count == 1, let scale = bias.quantization?.scales.first
    else { return }
    let difference = abs(Double(inputScale) * Double(filterScales[0]) - Double(scale))
    guard difference / Double(outputScale) <= 0.02 else {
      throw malformed(
        "the bias \(bias.name) has the scale \(scale), not the product of those of input and filter, "
          + "\(inputScale * filterScales[0])")
    }
  }
}
