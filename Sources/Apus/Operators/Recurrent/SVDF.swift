// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SVDF`: a rank-decomposed filter over time, whose state is the last values of each filter.
///
/// Source: Nakkiran et al., "Compressing Deep Neural Networks using a Rank-Constrained Topology" (2015).
enum SVDF {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 5...5)
    let input = try node.input(0, types: [.float32, .int8], rank: 2)
    let feature = try node.input(1, types: [.float32, .int8, .uint8], rank: 2)
    let time = try node.input(2, types: [.float32, .int8, .uint8, .int16], rank: 2)
    let rank = try node.options.svdf.rank
    let (filters, memory, batch) = (feature.shape[0], time.shape[1], input.shape[0])
    guard rank > 0, filters.isMultiple(of: rank), time.shape[0] == filters, memory > 0,
      feature.shape[1] == input.shape[1]
    else {
      throw node.malformed(
        "rank \(rank), \(feature.name), \(feature.shape), and \(time.name), \(time.shape), do not fit together"
      )
    }
    try node.check(
      work: Double(batch) * (Double(feature.shape.elementCount) + Double(time.shape.elementCount)))
    let units = filters / rank
    let output = try node.output(0, shape: [batch, units], like: input)
    let (perRow, overflow) = memory.multipliedReportingOverflow(by: filters)
    guard !overflow else { throw node.malformed("has more state than can be counted") }
    let isInteger = input.type == .int8
    let state = try node.state(4, rows: batch, count: perRow, type: isInteger ? .int16 : .float32)
    let shape = SVDFShape(batch: batch, filters: filters, memory: memory, rank: rank)
    let bias = try node.optionalVector(3, count: units, types: [isInteger ? .int32 : .float32])
    let activation = try node.recurrentActivation(node.options.svdf.activation)
    if isInteger {
      return try integer(
        node, shape, input: input, feature: feature, time: time, bias: bias, state: state, output: output)
    }
    let weights = try node.recurrentWeights(1, rows: filters, depth: input.shape[1])
    let timeWeights: [Float]
    switch time.type {
    case .float32: timeWeights = try node.values(of: time, as: Float.self)
    case .int8, .uint8:
      let scale = try node.quantization(of: time).scale
      try node.keep(tablesOf: time.shape.elementCount, entryByteCount: MemoryLayout<Float>.size)
      let bytes: [Int8]
      if time.type == .int8 {
        bytes = try node.values(of: time, as: Int8.self)
      } else {
        bytes = try node.values(of: time, as: UInt8.self).map { Int8(bitPattern: $0) }
      }
      timeWeights = bytes.map { Float($0) * scale }
    default: throw node.unsupported("\(time.name) is \(time.type), with an input of floats")
    }
    return FloatSVDF(
      shape: shape, input: input, feature: weights, time: timeWeights, bias: bias, state: state,
      output: output,
      activation: activation, isAsymmetric: try node.options.svdf.isAsymmetric,
      quantized: weights.isQuantized ? try node.scratch(input.shape[1], of: .int16) : nil,
      values: try node.scratch(filters, of: .float32))
  }

  private static func integer(
    _ node: Node, _ shape: SVDFShape, input: TensorSlot, feature: TensorSlot, time: TensorSlot,
    bias: TensorSlot?,
    state: TensorSlot, output: TensorSlot
  ) throws(ApusError) -> any Operator {
    guard feature.type == .int8, time.type == .int16 else {
      throw node.unsupported(
        "\(feature.name) is \(feature.type) and \(time.name) \(time.type), not int8 and int16")
    }
    let (inputScale, inputZeroPoint) = try node.quantization(of: input)
    let (outputScale, outputZeroPoint) = try node.quantization(of: output)
    let stateScale = try node.quantization(of: state).scale
    let featureScale = try node.quantization(of: feature).scale
    let timeScale = try node.quantization(of: time).scale
    return IntegerSVDF(
      shape: shape, input: input, feature: feature, time: time, bias: bias, state: state, output: output,
      inputZeroPoint: inputZeroPoint, outputZeroPoint: outputZeroPoint,
      featureMultiplier: FixedPointMultiplier(
        ScaleFactor.narrow(inputScale, featureScale, over: stateScale)),
      outputMultiplier: FixedPointMultiplier(
        ScaleFactor.narrow(stateScale, timeScale, over: outputScale)))
  }
}
