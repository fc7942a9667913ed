// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// An LSTM layer on floats, whose weights may be bytes.
///
/// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997), with the peepholes, projection and layer
/// normalization that the schema lists.
struct LSTMLayer: SequenceLayer {
  /// The positions of a layer's tensors among an operator's inputs.
  struct Positions {
    /// Input weights, recurrent weights, peepholes, biases, the projection and its bias: 17 tensors.
    var weights = 1
    var outputState = 18
    var cellState = 19
    var normalization: Int?
    var auxiliary: Int?
  }

  /// The options of a layer.
  struct Options {
    let activation: RecurrentActivation
    let cellClip: Float
    let projectionClip: Float
    let isAsymmetric: Bool
    /// Whether infinite sums of products and biases become the greatest float.
    ///
    /// The reference's products are fully connected layers. For one sequence the bias is a part of the layer, and the sum is clamped. For
    /// several, each product is clamped and then added to the bias without a clamp; here neither is clamped then.
    let clampsSums: Bool
  }

  /// Values in each row of the output.
  let outputCount: Int

  let options: Options
  let inputCount: Int
  private let auxiliaryCount: Int
  let cellCount: Int
  let inputGate: LSTMGate?
  let forgetGate: LSTMGate
  let cellGate: LSTMGate
  let outputGate: LSTMGate
  let projection: RecurrentWeights?
  let projectionBias: TensorSlot?
  let outputState: TensorSlot
  let cellState: TensorSlot
  private let scratch: [TensorSlot]
  private let quantized: [TensorSlot]?

  /// Reads and checks the tensors.
  init(
    _ node: Node, _ positions: Positions, batch: Int, inputCount: Int, auxiliaryCount: Int = 0,
    options: Options
  ) throws(ApusError) {
    let first = positions.weights
    let cellCount = try node.input(first + 3, rank: 2).shape[0]
    let recurrent = try node.input(first + 7, ranks: 1...2).shape
    let outputCount = recurrent.rank == 1 ? recurrent[0] : recurrent[1]
    self.cellCount = cellCount
    self.outputCount = outputCount
    self.inputCount = inputCount
    self.auxiliaryCount = auxiliaryCount
    self.options = options
    guard options.cellClip >= 0, options.projectionClip >= 0 else {
      throw node.malformed("clips at \(options.cellClip) and \(options.projectionClip), not at 0 or above")
    }
    func gate(_ position: Int) throws(ApusError) -> LSTMGate {
      let hasPeephole = position != 2
      var auxiliary: RecurrentWeights?
      if let start = positions.auxiliary {
        auxiliary = try node.recurrentWeights(start + position, rows: cellCount, depth: auxiliaryCount)
      }
      return LSTMGate(
        input: try node.recurrentWeights(first + position, rows: cellCount, depth: inputCount),
        auxiliary: auxiliary,
        recurrent: try node.recurrentWeights(first + 4 + position, rows: cellCount, depth: outputCount),
        peephole: hasPeephole
          ? try node.optionalRecurrentWeights(first + 8 + min(position, 2), rows: cellCount, depth: nil)
          : nil,
        normalization: try positions.normalization.flatMap { (start) throws(ApusError) in
          try node.optionalVector(start + position, count: cellCount)
        },
        bias: try node.vector(first + 11 + position, count: cellCount))
    }
    let hasInputGate = try node.optionalInput(first) != nil
    guard try node.optionalInput(first + 4) != nil || !hasInputGate else {
      throw node.malformed("has weights of the input for an input gate, but no recurrent ones")
    }
    inputGate = hasInputGate ? try gate(0) : nil
    forgetGate = try gate(1)
    cellGate = try gate(2)
    outputGate = try gate(3)
    let peepholes = [forgetGate.peephole != nil, outputGate.peephole != nil]
    guard peepholes[0] == peepholes[1], inputGate.map({ ($0.peephole != nil) == peepholes[0] }) ?? true else {
      throw node.malformed("has peephole weights for some gates only")
    }
    projection = try node.optionalRecurrentWeights(first + 15, rows: outputCount, depth: cellCount)
    projectionBias = try node.optionalVector(first + 16, count: outputCount)
    guard projection != nil || projectionBias == nil, projection != nil || outputCount == cellCount else {
      throw node.malformed(
        "has \(cellCount) cells and \(outputCount) outputs without weights of a projection")
    }
    guard batch == 0 || outputCount > 0 && cellCount > 0 else { throw node.malformed("has no cells") }
    outputState = try node.state(positions.outputState, rows: batch, count: outputCount, type: .float32)
    cellState = try node.state(positions.cellState, rows: batch, count: cellCount, type: .float32)
    var scratch: [TensorSlot] = []
    for _ in 0..<4 { scratch.append(try node.scratch(cellCount, of: .float32)) }
    self.scratch = scratch
    var matrices = [projection]
    for gate in [inputGate, forgetGate, cellGate, outputGate] {
      matrices += [gate?.input, gate?.auxiliary, gate?.recurrent]
    }
    guard try node.areQuantized(matrices) else {
      quantized = nil
      return
    }
    var words: [TensorSlot] = []
    for count in [inputCount, auxiliaryCount, outputCount, cellCount] {
      words.append(try node.scratch(count, of: .int16))
    }
    quantized = words
  }

  func step(
    _ input: TensorSlot, auxiliary: TensorSlot?, row: Int, batch: Int, output: TensorSlot, offset: Int,
    _ tensors: borrowing TensorTable
  ) {
    // A step of many cells takes a while, even where its parts are too short to ask for themselves.
    var poll = StopPoll(tensors.threads)
    func mustStop() -> Bool { poll.mustStop(before: 16 &* max(cellCount, inputCount, outputCount)) }
    let x = vector(input, row, inputCount, 0, tensors)
    if mustStop() { return }
    let h = vector(outputState, batch, outputCount, 2, tensors)
    if mustStop() { return }
    let extra = auxiliary.map { vector($0, row, auxiliaryCount, 1, tensors) }
    let cells = RecurrentVector(
      cellState, row: batch, count: cellCount, quantized: nil, isAsymmetric: false, tensors)
    if let inputGate { compute(inputGate, .logistic, into: scratch[0], x, extra, h, cells, tensors) }
    if mustStop() { return }
    compute(forgetGate, .logistic, into: scratch[1], x, extra, h, cells, tensors)
    if mustStop() { return }
    compute(cellGate, options.activation, into: scratch[2], x, extra, h, cells, tensors)
    if mustStop() { return }
    updateCell(batch, tensors)
    if mustStop() { return }
    compute(outputGate, .logistic, into: scratch[3], x, extra, h, cells, tensors)
    if mustStop() { return }
    updateOutput(batch, output, offset, tensors)
  }

  private func vector(
    _ slot: TensorSlot, _ row: Int, _ count: Int, _ place: Int, _ tensors: borrowing TensorTable
  ) -> RecurrentVector {
    RecurrentVector(
      slot, row: row, count: count, quantized: quantized?[place], isAsymmetric: options.isAsymmetric, tensors)
  }

  private func compute(
    _ gate: LSTMGate, _ activation: RecurrentActivation, into slot: TensorSlot, _ x: RecurrentVector,
    _ extra: RecurrentVector?, _ h: RecurrentVector, _ cells: RecurrentVector,
    _ tensors: borrowing TensorTable
  ) {
    var sums = tensors.write(slot, as: Float.self)
    if gate.normalization == nil {
      RecurrentFloats.copy(tensors.read(gate.bias), to: &sums)
    } else {
      RecurrentFloats.fill(&sums, with: 0)
    }
    gate.input.add(x, to: &sums, clampsSums: options.clampsSums, tensors)
    if let extra { gate.auxiliary?.add(extra, to: &sums, clampsSums: options.clampsSums, tensors) }
    gate.recurrent.add(h, to: &sums, clampsSums: options.clampsSums, tensors)
    gate.peephole?.add(cells, to: &sums, tensors)
    if let normalization = gate.normalization {
      RecurrentFloats.normalize(
        &sums, coefficients: tensors.read(normalization), bias: tensors.read(gate.bias))
    }
    activation.apply(to: &sums, threads: tensors.threads)
  }

  private func updateCell(_ batch: Int, _ tensors: borrowing TensorTable) {
    var cell = tensors.write(cellState, batch * cellCount..<(batch + 1) * cellCount, as: Float.self)
    if inputGate == nil {
      RecurrentFloats.updateCell(
        &cell, forget: tensors.read(scratch[1]), values: tensors.read(scratch[2]), clip: options.cellClip)
    } else {
      RecurrentFloats.updateCell(
        &cell, forget: tensors.read(scratch[1]), input: tensors.read(scratch[0]),
        values: tensors.read(scratch[2]), clip: options.cellClip)
    }
  }

  private func updateOutput(
    _ batch: Int, _ output: TensorSlot, _ offset: Int, _ tensors: borrowing TensorTable
  ) {
    do {
      var hidden = tensors.write(scratch[2], as: Float.self)
      // Without an activation the reference continues with the cell gate's values, not with the cell's.
      if options.activation != .none {
        let cells = tensors.read(cellState, as: Float.self)
        RecurrentFloats.copy(cells.extracting(batch * cellCount..<(batch + 1) * cellCount), to: &hidden)
      }
      options.activation.apply(to: &hidden, threads: tensors.threads)
      RecurrentFloats.multiply(&hidden, by: tensors.read(scratch[3]))
    }
    var state = tensors.write(outputState, batch * outputCount..<(batch + 1) * outputCount, as: Float.self)
    if let projection {
      if let projectionBias {
        RecurrentFloats.copy(tensors.read(projectionBias), to: &state)
      } else {
        RecurrentFloats.fill(&state, with: 0)
      }
      projection.add(
        vector(scratch[2], 0, cellCount, 3, tensors), to: &state, clampsSums: options.clampsSums, tensors)
      RecurrentFloats.clip(&state, to: options.projectionClip)
    } else {
      RecurrentFloats.copy(tensors.read(scratch[2]), to: &state)
    }
    var result = tensors.write(output, offset..<offset + outputCount, as: Float.self)
    let newStates = tensors.read(outputState, as: Float.self)
    RecurrentFloats.copy(newStates.extracting(batch * outputCount..<(batch + 1) * outputCount), to: &result)
  }
}
