import ApusKernels

/// A layer whose output is a function of its input and of its last output.
struct RecurrentLayer {
  /// Values in each row of the output.
  let unitCount: Int

  private let inputCount: Int
  private let auxiliaryCount: Int
  private let input: RecurrentWeights
  private let auxiliary: RecurrentWeights?
  private let recurrent: RecurrentWeights
  private let bias: TensorSlot
  private let state: TensorSlot
  private let activation: RecurrentActivation
  private let isAsymmetric: Bool
  private let quantized: [TensorSlot]?

  /// Whether weights are bytes.
  var isQuantized: Bool { quantized != nil }

  /// Reads the four tensors from `first` on, and the weights of a second input.
  init(
    _ node: Node, first: Int, batch: Int, inputCount: Int, auxiliary: (position: Int, count: Int)?,
    activation: RecurrentActivation, isAsymmetric: Bool
  ) throws(ApusError) {
    unitCount = try node.input(first, rank: 2).shape[0]
    self.inputCount = inputCount
    self.activation = activation
    self.isAsymmetric = isAsymmetric
    auxiliaryCount = auxiliary?.count ?? 0
    input = try node.recurrentWeights(first, rows: unitCount, depth: inputCount)
    recurrent = try node.recurrentWeights(first + 1, rows: unitCount, depth: unitCount)
    bias = try node.vector(first + 2, count: unitCount)
    state = try node.state(first + 3, rows: batch, count: unitCount, type: .float32)
    var extra: RecurrentWeights?
    if let auxiliary {
      extra = try node.recurrentWeights(auxiliary.position, rows: unitCount, depth: auxiliary.count)
    }
    self.auxiliary = extra
    guard input.isQuantized == recurrent.isQuantized else {
      throw node.malformed("has weights of bytes and of floats")
    }
    guard input.isQuantized else {
      quantized = nil
      return
    }
    var words: [TensorSlot] = []
    for count in [inputCount, auxiliaryCount, unitCount] { words.append(try node.scratch(count, of: .int16)) }
    quantized = words
  }

  /// Computes one step of one sequence.
  func step(
    _ inputSlot: TensorSlot, auxiliary auxiliarySlot: TensorSlot?, row: Int, batch: Int, output: TensorSlot,
    offset: Int, _ tensors: borrowing TensorTable
  ) {
    let x = vector(inputSlot, row, inputCount, 0, tensors)
    let h = vector(state, batch, unitCount, 2, tensors)
    var sums = tensors.write(output, offset..<offset + unitCount, as: Float.self)
    RecurrentFloats.copy(tensors.read(bias), to: &sums)
    input.add(x, to: &sums, tensors)
    if let auxiliarySlot {
      auxiliary?.add(vector(auxiliarySlot, row, auxiliaryCount, 1, tensors), to: &sums, tensors)
    }
    recurrent.add(h, to: &sums, tensors)
    activation.apply(to: &sums)
    var new = tensors.write(state, batch * unitCount..<(batch + 1) * unitCount, as: Float.self)
    RecurrentFloats.copy(
      tensors.read(output, as: Float.self).extracting(offset..<offset + unitCount), to: &new)
  }

  private func vector(
    _ slot: TensorSlot, _ row: Int, _ count: Int, _ place: Int, _ tensors: borrowing TensorTable
  ) -> RecurrentVector {
    RecurrentVector(
      slot, row: row, count: count, quantized: quantized?[place], isAsymmetric: isAsymmetric, tensors)
  }
}

/// `RNN`, `UNIDIRECTIONAL_SEQUENCE_RNN` and `BIDIRECTIONAL_SEQUENCE_RNN`.
struct RecurrentNetwork: Operator {
  private struct Direction {
    let layer: RecurrentLayer
    let input: TensorSlot
    let auxiliary: TensorSlot?
    let output: TensorSlot
    let offset: Int
    let isBackward: Bool
  }

  private let layout: SequenceLayout
  private let directions: [Direction]
  /// How often the sequence is read, with the state that the last reading left.
  private let readings: Int

  private init(layout: SequenceLayout, directions: [Direction], readings: Int = 1) {
    self.layout = layout
    self.directions = directions
    self.readings = readings
  }

  /// `RNN`: one step, for a batch.
  static func prepareStep(_ node: Node) throws(ApusError) -> any Operator {
    try prepare(
      node, rank: 2, isTimeMajor: true, activation: try node.recurrentActivationOption(0),
      isAsymmetric: try node.boolOption(1))
  }

  /// `UNIDIRECTIONAL_SEQUENCE_RNN`.
  static func prepareSequence(_ node: Node) throws(ApusError) -> any Operator {
    try prepare(
      node, rank: 3, isTimeMajor: try node.boolOption(0), activation: try node.recurrentActivationOption(1),
      isAsymmetric: try node.boolOption(2))
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
    return RecurrentNetwork(
      layout: layout,
      directions: [
        .init(layer: layer, input: input, auxiliary: nil, output: output, offset: 0, isBackward: false)
      ])
  }

  /// `BIDIRECTIONAL_SEQUENCE_RNN`.
  static func prepareBidirectional(_ node: Node) throws(ApusError) -> any Operator {
    let isMerged = try node.boolOption(2)
    try node.expect(inputs: 12...12, outputs: isMerged ? 1...1 : 2...2)
    let input = try node.input(0, types: [.float32], rank: 3)
    let layout = try SequenceLayout(node, input.shape, isTimeMajor: try node.boolOption(0))
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
    let activation = try node.recurrentActivationOption(1)
    let isAsymmetric = try node.boolOption(3)
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
    // Where time comes first and weights are bytes, the reference reads the sequence once for each of its steps.
    let readings = layout.isTimeMajor && forward.isQuantized ? layout.time : 1
    return RecurrentNetwork(
      layout: layout,
      directions: [
        .init(layer: forward, input: input, auxiliary: extra, output: first, offset: 0, isBackward: false),
        .init(
          layer: backward, input: secondInput, auxiliary: extra, output: second,
          offset: isMerged ? forward.unitCount : 0, isBackward: true),
      ], readings: readings)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    for _ in 0..<readings { read(tensors) }
  }

  private func read(_ tensors: borrowing TensorTable) {
    for direction in directions {
      let width = direction.output.shape.dimensions.last ?? 0
      for batch in 0..<layout.batch {
        for step in 0..<layout.time {
          let row = layout.row(batch: batch, time: direction.isBackward ? layout.time - 1 - step : step)
          direction.layer.step(
            direction.input, auxiliary: direction.auxiliary, row: row, batch: batch, output: direction.output,
            offset: row * width + direction.offset, tensors)
        }
      }
    }
  }
}
