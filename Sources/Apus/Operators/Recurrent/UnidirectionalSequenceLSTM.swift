// SPDX-License-Identifier: Apache-2.0

/// `UNIDIRECTIONAL_SEQUENCE_LSTM`, and `LSTM`, which is one step of it: on floats, on floats
/// with weights of bytes, or on bytes.
enum UnidirectionalSequenceLSTM {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let input = try node.input(0, types: [.float32, .int8], rank: 3)
    let options = node.options.unidirectionalSequenceLSTM
    return try prepare(
      node, input, normalizesSomeGates: false, isTimeMajor: try options.isTimeMajor,
      isAsymmetric: try options.isAsymmetric,
      activation: try options.activation, cellClip: try options.cellClip,
      projectionClip: try options.projectionClip)
  }

  /// `LSTM`: one step, for a batch.
  static func prepareStep(_ node: Node) throws(ApusError) -> any Operator {
    let options = node.options.lstm
    if try options.kernelType == 1 {
      return node.inputType(0) == .uint8 ? try QuantizedLSTM(preparing: node) : try BasicLSTM.prepare(node)
    }
    let input = try node.input(0, types: [.float32, .int8], rank: 2)
    return try prepare(
      node, input, normalizesSomeGates: true, isTimeMajor: true, isAsymmetric: try options.isAsymmetric,
      activation: try options.activation, cellClip: try options.cellClip,
      projectionClip: try options.projectionClip)
  }

  /// Prepares either operator.
  ///
  /// - Parameter normalizesSomeGates: whether each gate of a layer of floats that has a vector for it is normalized if the forget gate has
  ///   none; otherwise none is.
  private static func prepare(
    _ node: Node, _ input: TensorSlot, normalizesSomeGates: Bool, isTimeMajor: Bool, isAsymmetric: Bool,
    activation: Int,
    cellClip: Float,
    projectionClip: Float
  ) throws(ApusError) -> any Operator {
    guard node.inputCount == 20 || node.inputCount == 24, node.outputCount == 1 else {
      throw node.malformed(
        "has \(node.inputCount) inputs and \(node.outputCount) outputs, not 20 or 24 and 1")
    }
    let layout = try SequenceLayout(node, input.shape, isTimeMajor: isTimeMajor)
    let isNormalized = try node.optionalInput(21) != nil
    let recurrent = try node.input(8, ranks: 1...2).shape
    let outputCount = recurrent.dimensions.last ?? 0
    let output = try node.output(
      0, shape: TensorShape(input.shape.dimensions.dropLast() + [outputCount]), like: input)
    guard input.type == .float32 else {
      guard cellClip >= 0, projectionClip >= 0 else {
        throw node.malformed("clips at \(cellClip) and \(projectionClip), not at 0 or above")
      }
      let layer = try IntegerLSTMLayer(
        node, batch: layout.batch, isTimeMajor: isTimeMajor, input: input, output: output,
        outputCount: outputCount, isNormalized: isNormalized, cellClip: cellClip,
        projectionClip: projectionClip)
      return SequenceNetwork(
        layout: layout, directions: [.init(layer: layer, input: input, output: output)])
    }
    // All gates have a vector if the forget gate has one.
    if isNormalized {
      let first = try node.optionalInput(1) == nil ? 21 : 20
      for gate in first...23 { _ = try node.input(gate) }
    }
    let layer = try LSTMLayer(
      node, LSTMLayer.Positions(normalization: isNormalized || normalizesSomeGates ? 20 : nil),
      batch: layout.batch,
      inputCount: input.shape.dimensions.last ?? 0,
      options: LSTMLayer.Options(
        activation: try node.recurrentActivation(activation), cellClip: cellClip,
        projectionClip: projectionClip, isAsymmetric: isAsymmetric, clampsSums: layout.readsOneSequence))
    return SequenceNetwork(
      layout: layout,
      directions: [
        .init(layer: try ProductLSTM(layer, layout, node) ?? layer, input: input, output: output)
      ])
  }
}
