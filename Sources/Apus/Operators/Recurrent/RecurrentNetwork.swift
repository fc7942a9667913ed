// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RNN`, `UNIDIRECTIONAL_SEQUENCE_RNN` and `BIDIRECTIONAL_SEQUENCE_RNN`.
enum RecurrentNetwork {
  /// `RNN`: one step, for a batch.
  static func prepareStep(_ node: Node) throws(ApusError) -> any Operator {
    let options = node.options.rnn
    return try prepare(
      node, rank: 2, isTimeMajor: true, activation: try node.recurrentActivation(options.activation),
      isAsymmetric: try options.isAsymmetric)
  }

  /// `UNIDIRECTIONAL_SEQUENCE_RNN`.
  static func prepareSequence(_ node: Node) throws(ApusError) -> any Operator {
    let options = node.options.sequenceRNN
    return try prepare(
      node, rank: 3, isTimeMajor: try options.isTimeMajor,
      activation: try node.recurrentActivation(options.activation), isAsymmetric: try options.isAsymmetric)
  }

  private static func prepare(
    _ node: Node, rank: Int, isTimeMajor: Bool, activation: RecurrentActivation, isAsymmetric: Bool
  ) throws(ApusError) -> any Operator {
    try node.expect(inputs: 5...5)
    let input = try node.input(0, types: [.float32], rank: rank)
    let layout = try SequenceLayout(node, input.shape, isTimeMajor: isTimeMajor)
    let layer = try RecurrentLayer(
      node, first: 1, batch: layout.batch, inputCount: input.shape[rank - 1], auxiliary: nil,
      activation: activation, isAsymmetric: isAsymmetric)
    let output = try node.output(
      0, shape: TensorShape(input.shape.dimensions.dropLast() + [layer.unitCount]), like: input)
    return SequenceNetwork(
      layout: layout,
      directions: [
        .init(layer: try ProductRNN(layer, layout, node) ?? layer, input: input, output: output)
      ])
  }

  /// `BIDIRECTIONAL_SEQUENCE_RNN`.
  static func prepareBidirectional(_ node: Node) throws(ApusError) -> any Operator {
    let options = node.options.bidirectionalSequenceRNN
    let isMerged = try options.isMerged
    try node.expect(inputs: 12...12, outputs: isMerged ? 1...1 : 2...2)
    let input = try node.input(0, types: [.float32], rank: 3)
    let layout = try SequenceLayout(node, input.shape, isTimeMajor: try options.isTimeMajor)
    let auxiliary = try node.optionalInput(9, types: [.float32], ranks: 3...3)
    if let auxiliary, auxiliary.shape[0] != input.shape[0] || auxiliary.shape[1] != input.shape[1] {
      throw node.malformed("\(auxiliary.name) is \(auxiliary.shape), and \(input.name) is \(input.shape)")
    }
    let hasWeights = [try node.optionalInput(10) != nil, try node.optionalInput(11) != nil]
    guard hasWeights[0] == hasWeights[1], auxiliary != nil || !hasWeights[0] else {
      throw node.malformed("has weights of the second input for one direction only, or no second input")
    }
    let extra = hasWeights[0] ? auxiliary : nil
    // Without weights of its own, the second input takes the first one's place for the second layer; the reference
    // does so only where time comes first.
    let secondInput = hasWeights[0] || !layout.isTimeMajor ? input : auxiliary ?? input
    let activation = try node.recurrentActivation(options.activation)
    let isAsymmetric = try options.isAsymmetric
    func layer(_ first: Int, _ input: TensorSlot, _ weights: Int) throws(ApusError) -> RecurrentLayer {
      try RecurrentLayer(
        node, first: first, batch: layout.batch, inputCount: input.shape[2],
        auxiliary: extra.map { (weights, $0.shape[2]) }, activation: activation, isAsymmetric: isAsymmetric)
    }
    let forward = try layer(1, input, 10)
    let backward = try layer(5, secondInput, 11)
    let (total, overflow) = forward.unitCount.addingReportingOverflow(backward.unitCount)
    guard !overflow else { throw node.malformed("has too many units") }
    func output(_ position: Int, _ width: Int) throws(ApusError) -> TensorSlot {
      try node.output(position, shape: [input.shape[0], input.shape[1], width], like: input)
    }
    let first = try output(0, isMerged ? total : forward.unitCount)
    let second = isMerged ? first : try output(1, backward.unitCount)
    // If time comes first and weights are bytes, the reference reads the sequence once for each of its steps.
    let readings = layout.isTimeMajor && forward.isQuantized ? layout.time : 1
    try node.check(work: layout.runWork * Double(readings))
    return SequenceNetwork(
      layout: layout,
      directions: [
        .init(
          layer: try ProductRNN(forward, layout, node) ?? forward, input: input, auxiliary: extra,
          output: first),
        .init(
          layer: try ProductRNN(backward, layout, node) ?? backward, input: secondInput, auxiliary: extra,
          output: second,
          offset: isMerged ? forward.unitCount : 0, isBackward: true),
      ], readings: readings)
  }
}
