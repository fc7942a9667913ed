// SPDX-License-Identifier: Apache-2.0

/// `BIDIRECTIONAL_SEQUENCE_LSTM`: two LSTM layers; the second one reads backwards.
enum BidirectionalSequenceLSTM {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let options = node.options.bidirectionalSequenceLSTM
    let isMerged = try options.isMerged
    let isTimeMajor = try options.isTimeMajor
    try node.expect(inputs: 48...48, outputs: isMerged ? 1...1 : 2...2)
    let input = try node.input(0, types: [.float32], rank: 3)
    let layout = try SequenceLayout(node, input.shape, isTimeMajor: isTimeMajor)
    let auxiliary = try node.optionalInput(39, types: [.float32], ranks: 3...3)
    if let auxiliary, auxiliary.shape[0] != input.shape[0] || auxiliary.shape[1] != input.shape[1] {
      throw node.malformed("\(auxiliary.name) is \(auxiliary.shape), and \(input.name) is \(input.shape)")
    }
    let hasWeights = try node.optionalInput(41) != nil
    guard auxiliary != nil || !hasWeights else {
      throw node.malformed("has weights for an input that is absent")
    }
    // Without weights of its own, the second input takes the first one's place for the second layer.
    let isCrossLinked = auxiliary != nil && !hasWeights
    let secondInput = isCrossLinked ? auxiliary ?? input : input
    let extra = isCrossLinked ? nil : auxiliary
    let layerOptions = LSTMLayer.Options(
      activation: try node.recurrentActivation(options.activation), cellClip: try options.cellClip,
      projectionClip: try options.projectionClip, isAsymmetric: try options.isAsymmetric,
      clampsSums: layout.readsOneSequence)
    func layer(_ positions: LSTMLayer.Positions, _ input: TensorSlot) throws(ApusError) -> LSTMLayer {
      try LSTMLayer(
        node, positions, batch: layout.batch, inputCount: input.shape[2],
        auxiliaryCount: extra?.shape[2] ?? 0,
        options: layerOptions)
    }
    let forward = try layer(
      .init(weights: 1, outputState: 35, cellState: 36, auxiliary: extra == nil ? nil : 40), input)
    let backward = try layer(
      .init(weights: 18, outputState: 37, cellState: 38, auxiliary: extra == nil ? nil : 44), secondInput)
    let widths = (forward.outputCount, backward.outputCount)
    func output(_ position: Int, _ width: Int) throws(ApusError) -> TensorSlot {
      try node.output(position, shape: [input.shape[0], input.shape[1], width], like: input)
    }
    guard !widths.0.addingReportingOverflow(widths.1).overflow else {
      throw node.malformed("has too many outputs")
    }
    let first = try output(0, isMerged ? widths.0 + widths.1 : widths.0)
    let second = isMerged ? first : try output(1, widths.1)
    return SequenceNetwork(
      layout: layout,
      directions: [
        .init(
          layer: try ProductLSTM(forward, layout, node) ?? forward, input: input, auxiliary: extra,
          output: first),
        .init(
          layer: try ProductLSTM(backward, layout, node) ?? backward, input: secondInput, auxiliary: extra,
          output: second,
          offset: isMerged ? widths.0 : 0, isBackward: true),
      ])
  }
}
