// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `FULLY_CONNECTED`: rows of the input times the rows of the filter, plus a bias.
///
/// Input of any rank, read as `rows×depth`; filter `units×depth`; output `rows×units`, or the input's shape with its
/// last dimension replaced where `keep_num_dims` is set. Values that do not fill a row are dropped, as the reference
/// does. It scales the integer sums in double precision and rounds once, half away from zero.
enum FullyConnected {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let options = node.options.fullyConnected
    let format = try options.weightsFormat
    guard format == 0 || format == 1 else { throw node.malformed("weights format \(format) is unknown") }
    try node.expect(inputs: 2...3, outputs: format + 1...format + 1)
    let input = try node.input(0)
    let filter = try node.input(1, rank: 2)
    let (units, depth) = (filter.shape[0], filter.shape[1])
    guard depth > 0, units > 0 else {
      throw node.malformed("the filter \(filter.name) is \(filter.shape)")
    }
    let rows = input.shape.elementCount / depth
    var shape: TensorShape = [rows, units]
    if try options.keepsDimensions {
      guard input.shape.dimensions.last == depth else {
        throw node.malformed("the last dimension of \(input.name), \(input.shape), is not \(depth)")
      }
      shape = TensorShape(input.shape.dimensions.dropLast() + [units])
    }
    let layer = try node.layerTypes(.fullyConnected, input, filter)
    let output = try node.output(0, shape: shape, types: layer.outputs)
    let bias = try node.bias(2, channels: units, types: layer.biases)
    if format == 1 {
      return try ShuffledFullyConnected.prepare(
        node, input: input, filter: filter, bias: bias, output: output)
    }
    if input.type == .float32, let blocks = try node.weightBlocks(1, of: filter) {
      return try BlockwiseFullyConnected(
        node, input: input, filter: filter, bias: bias, output: output, blocks: blocks)
    }
    let operands = try operands(
      layer, input: input, filter: filter, bias: bias, output: output, node: node)
    let epilogue = try epilogue(
      operands, input: input, filter: filter, bias: bias, output: output, units: units, node: node)
    let product = Convolution(
      rows: rows, depth: depth, columns: units, operands: operands, epilogue: epilogue)
    return try ProductDraft(
      product, input: input, filter: filter, bias: bias, output: output,
      multiplyAccumulates: Double(rows) * Double(filter.shape.elementCount), node: node)
  }

  private static func operands(
    _ types: LayerTypes, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot,
    node: Node
  ) throws(ApusError) -> MatrixOperands {
    switch types.arithmetic {
    case .floats: return .float32
    case .hybrid:
      return .hybrid(isAsymmetric: try node.options.fullyConnected.isAsymmetric)
    case .unsigned, .signed:
      let lhs = try node.quantization(of: input).zeroPoint
      let parameters = try node.channelQuantization(of: filter)
      let rhs = parameters.isPerChannel ? 0 : Int32(clamping: parameters.zeroPoint)
      if output.type == .int16 {
        guard filter.type == input.type else { throw node.mismatch(input, filter) }
        // The reference reads signed bytes as unsigned here.
        return .uint8ToInt16(lhsZeroPoint: lhs, rhsZeroPoint: rhs)
      }
      return input.type == .uint8
        ? .uint8(lhsZeroPoint: lhs, rhsZeroPoint: rhs) : .int8(lhsZeroPoint: lhs, rhsZeroPoint: rhs)
    case .words:
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
      let parameters = try node.channelQuantization(of: filter)
      guard parameters.isPerChannel || parameters.zeroPoint == 0 else {
        throw node.unsupported(
          "\(filter.name) has the zero point \(parameters.zeroPoint); 0 is supported here")
      }
      let isNarrow = try node.isNarrow(bias, declared: node.options.fullyConnected.biasType)
      return .int16(weightByteCount: filter.type == .int16 ? 2 : 1, biasByteCount: isNarrow ? 4 : 8)
    }
  }

  private static func epilogue(
    _ operands: MatrixOperands, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot,
    units: Int, node: Node
  ) throws(ApusError) -> Epilogue {
    let activation = try node.activation(node.options.fullyConnected.activation)
    switch operands {
    case .float32: return node.floatEpilogue(activation)
    case .hybrid:
      return try node.hybridEpilogue(
        activation, filter: filter, channels: units, isPerChannel: true, isOpen: true)
    default: break
    }
    let inputScale = try node.quantization(of: input).scale
    let (outputScale, zeroPoint) = try node.quantization(of: output)
    var filterScales = try node.channelScales(of: filter, channels: units)
    try node.checkBiasScale(
      bias, inputScale: inputScale, filterScales: filterScales, outputScale: outputScale)
    let bounds = try node.quantizedBounds(activation, of: output)
    if case .int16(2, _) = operands {
      let factors = ScaleFactor.perChannel(inputScale, filterScales, over: outputScale)
      return .reducedFixedPoint(
        factors.map { FixedPointMultiplier($0) }, minimum: bounds.minimum, maximum: bounds.maximum)
    }
    if case .uint8ToInt16 = operands, filterScales.count > 1 {
      // The reference then has no scale for the whole filter.
      filterScales = [0]
    }
    if input.type == .int8, node.isSparse(1) {
      // The reference multiplies sums of sparse filters in fixed point.
      let factors = ScaleFactor.perChannel(inputScale, filterScales, over: outputScale)
      return .fixedPoint(
        factors.map { FixedPointMultiplier($0) }, zeroPoint: zeroPoint, minimum: bounds.minimum,
        maximum: bounds.maximum)
    }
    return .float64(
      filterScales.map { ScaleFactor.wide(inputScale, $0, over: outputScale) }, zeroPoint: zeroPoint,
      minimum: bounds.minimum, maximum: bounds.maximum)
  }
}
