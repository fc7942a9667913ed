// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime

/// An LSTM layer on constant floats as products of all gates, a step for all sequences of a batch.
struct ProductLSTM: SequenceReader {
  private let layer: LSTMLayer
  private var products: GateProducts
  private let cells: LSTMCells
  private var projection: Projection?

  /// The product that makes outputs of cells.
  private struct Projection {
    let kernel: any PreparedConvolution
    var weights: ProductWeights
    let hidden: TensorSlot
    let scratch: TensorSlot
  }

  /// Nil for layers with peepholes, normalization or a second input, and if weights are bytes or computed.
  init?(_ layer: LSTMLayer, _ layout: SequenceLayout, _ node: Node) throws(ApusError) {
    let inputGates = layer.inputGate.map { [$0] } ?? []
    let gates = [layer.forgetGate, layer.outputGate] + inputGates + [layer.cellGate]
    var tensors: [GateProducts.Gate] = []
    for gate in gates {
      guard gate.auxiliary == nil, gate.peephole == nil, gate.normalization == nil,
        let input = gate.input.floats, let state = gate.recurrent.floats
      else { return nil }
      tensors.append(.init(input: input, state: state, bias: gate.bias))
    }
    let clampsSums = layer.options.clampsSums
    let epilogue = clampsSums ? node.floatEpilogue(.none) : node.openEpilogue
    guard
      let products = try GateProducts(
        tensors, layout, inputCount: layer.inputCount, stateCount: layer.outputCount,
        unitCount: layer.cellCount, inputEpilogue: epilogue, node)
    else { return nil }
    self.layer = layer
    self.products = products
    cells = LSTMCells(
      count: layer.cellCount, hasInputGate: layer.inputGate != nil, activation: layer.options.activation,
      clip: layer.options.cellClip, clampsSums: clampsSums, using: node.kernels)
    guard let weights = layer.projection else { return }
    try node.keepChannels(layer.outputCount)
    guard let filter = weights.floats, filter.isConstant, layer.projectionBias?.isConstant ?? true,
      let (kernel, _) = node.kernels.choose(
        Convolution(
          rows: layout.batch, depth: layer.cellCount, columns: layer.outputCount, operands: .float32,
          epilogue: epilogue), isForOneThread: node.isForOneThread)
    else { return nil }
    projection = Projection(
      kernel: kernel, weights: ProductWeights(filter: filter, bias: layer.projectionBias),
      hidden: try node.scratch(layout.batch * layer.cellCount, of: .float32),
      scratch: try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount)))
  }

  var hasWeights: Bool { true }
  var implementation: Implementation { products.implementation }
  var separateStates: [TensorSlot]? { [layer.outputState, layer.cellState] }

  func packed(by packer: WeightPacker) throws(ApusError) -> any SequenceReader {
    var copy = self
    try copy.products.pack(by: packer)
    if let kernel = projection?.kernel { try copy.projection?.weights.pack(for: kernel, by: packer) }
    return copy
  }

  func read(
    _ direction: SequenceNetwork.Direction, _ layout: SequenceLayout, _ tensors: borrowing TensorTable
  ) {
    var first = -1
    for count in 0..<layout.time {
      // A run that must end skips the rest, which is never read.
      if tensors.threads.mustStop { return }
      let step = direction.step(count, of: layout)
      if products.firstStep(of: step) != first {
        first = products.firstStep(of: step)
        products.multiplyInputs(direction.input, from: first, tensors)
      }
      products.multiplyStates(layer.outputState, tensors)
      for batch in 0..<layout.batch {
        let row = batch * layer.cellCount..<(batch + 1) * layer.cellCount
        var sums = products.stateSums(batch: batch, tensors)
        var cellRow = tensors.write(layer.cellState, row, as: Float.self)
        var hidden = tensors.write(projection?.hidden ?? layer.outputState, row, as: Float.self)
        cells.run(
          &sums, adding: products.inputSums(batch: batch, step: step, from: first, tensors), cells: &cellRow,
          outputs: &hidden, threads: tensors.threads)
      }
      project(tensors)
      for batch in 0..<layout.batch {
        let place = direction.place(row: layout.row(batch: batch, time: step))
        var result = tensors.write(direction.output, place..<place + layer.outputCount, as: Float.self)
        let states = tensors.read(layer.outputState, as: Float.self)
        RecurrentFloats.copy(
          states.extracting(batch * layer.outputCount..<(batch + 1) * layer.outputCount), to: &result)
      }
    }
  }

  /// Makes the outputs of all sequences from their cells.
  private func project(_ tensors: borrowing TensorTable) {
    guard let projection, let weights = projection.weights.known else { return }
    do {
      var scratch = tensors.writeBytes(projection.scratch)
      var result = tensors.writeBytes(layer.outputState)
      projection.kernel.run(
        weights, input: tensors.readBytes(projection.hidden), output: &result, scratch: &scratch,
        threads: tensors.threads)
    }
    var states = tensors.write(layer.outputState, as: Float.self)
    RecurrentFloats.clip(&states, to: layer.options.projectionClip)
  }
}
