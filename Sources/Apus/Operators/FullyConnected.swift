import ApusKernels

/// `FULLY_CONNECTED`: rows of the input times the rows of the filter, plus a bias.
///
/// Input of any rank, taken as `rows×depth`; filter `units×depth`; output `rows×units`, or the input's shape with its
/// last dimension replaced where `keep_num_dims` is set. The reference scales the integer sums in double precision
/// and rounds once, half away from zero.
enum FullyConnected {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...3)
    let input = try node.input(0)
    let filter = try node.input(1, rank: 2)
    let (units, depth) = (filter.shape[0], filter.shape[1])
    let format = try node.int8Option(1, default: 0)
    guard format == 0 else { throw node.unsupported("weights format \(format), shuffled, is not supported") }
    guard depth > 0, units > 0, input.shape.elementCount.isMultiple(of: depth) else {
      throw node.malformed("rows of \(depth) values do not divide \(input.name), \(input.shape)")
    }
    let rows = input.shape.elementCount / depth
    var shape: TensorShape = [rows, units]
    if try node.boolOption(2) {
      guard input.shape.dimensions.last == depth else {
        throw node.malformed("the last dimension of \(input.name), \(input.shape), is not \(depth)")
      }
      shape = TensorShape(input.shape.dimensions.dropLast() + [units])
    }
    let output = try node.output(0, shape: shape, like: input)
    var operands = try node.operands(input: input, filter: filter)
    let bias = try node.bias(2, channels: units, operands: operands)
    let epilogue: Epilogue
    let activation = try node.activationOption(0)
    if input.type == .float32 {
      epilogue = node.floatEpilogue(activation)
    } else {
      let inputScale = try node.quantization(of: input).scale
      let (outputScale, zeroPoint) = try node.quantization(of: output)
      let filterScales = try node.channelScales(of: filter, channels: units, axis: 0)
      if filterScales.count == 1, case .int8(let lhsZeroPoint, _) = operands {
        operands = .int8(lhsZeroPoint: lhsZeroPoint, rhsZeroPoint: try node.quantization(of: filter).zeroPoint)
      }
      try node.checkBiasScale(bias, inputScale: inputScale, filterScales: filterScales, outputScale: outputScale)
      let bounds = try node.quantizedBounds(activation, of: output)
      epilogue = .float64(
        filterScales.map { Double(inputScale) * Double($0) / Double(outputScale) }, zeroPoint: zeroPoint,
        minimum: bounds.minimum, maximum: bounds.maximum)
    }
    let product = Convolution(rows: rows, depth: depth, columns: units, operands: operands, epilogue: epilogue)
    return try WeightedProduct(
      node.kernels.prepare(product), input: input, filter: filter, bias: bias, output: output,
      multiplyAccumulates: Double(rows) * Double(filter.shape.elementCount), node: node)
  }
}
