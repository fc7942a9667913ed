// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// A recurrent layer on constant floats as products, a step for all sequences of a batch.
struct ProductRNN: SequenceReader {
  private let layer: RecurrentLayer
  private var products: GateProducts
  private let sums: RecurrentSums

  /// Nil for layers with a second input, and if weights are bytes or computed.
  init?(_ layer: RecurrentLayer, _ layout: SequenceLayout, _ node: Node) throws(ApusError) {
    guard layer.auxiliary == nil, let input = layer.input.floats, let state = layer.recurrent.floats,
      let products = try GateProducts(
        [.init(input: input, state: state, bias: layer.bias)], layout, inputCount: layer.inputCount,
        stateCount: layer.unitCount, unitCount: layer.unitCount, inputEpilogue: node.openEpilogue, node)
    else { return nil }
    self.layer = layer
    self.products = products
    sums = RecurrentSums(layer.activation, using: node.kernels)
  }

  var hasWeights: Bool { true }
  var implementation: Implementation { products.implementation }
  var separateStates: [TensorSlot]? { [layer.state] }

  func packed(by packer: WeightPacker) throws(ApusError) -> any SequenceReader {
    var copy = self
    try copy.products.pack(by: packer)
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
      products.multiplyStates(layer.state, tensors)
      for batch in 0..<layout.batch {
        var values = products.stateSums(batch: batch, tensors)
        sums.run(
          &values, adding: products.inputSums(batch: batch, step: step, from: first, tensors),
          threads: tensors.threads)
        let place = direction.place(row: layout.row(batch: batch, time: step))
        var result = tensors.write(direction.output, place..<place + layer.unitCount, as: Float.self)
        RecurrentFloats.copy(values.span, to: &result)
        var state = tensors.write(
          layer.state, batch * layer.unitCount..<(batch + 1) * layer.unitCount, as: Float.self)
        RecurrentFloats.copy(values.span, to: &state)
      }
    }
  }
}
