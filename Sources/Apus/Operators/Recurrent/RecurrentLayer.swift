// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A layer whose output is a function of its input and of its previous output.
struct RecurrentLayer: SequenceLayer {
  /// Values in each row of the output.
  let unitCount: Int

  let inputCount: Int
  private let auxiliaryCount: Int
  let input: RecurrentWeights
  let auxiliary: RecurrentWeights?
  let recurrent: RecurrentWeights
  let bias: TensorSlot
  let state: TensorSlot
  let activation: RecurrentActivation
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
    guard try node.areQuantized([input, recurrent, extra]) else {
      quantized = nil
      return
    }
    var words: [TensorSlot] = []
    for count in [inputCount, auxiliaryCount, unitCount] { words.append(try node.scratch(count, of: .int16)) }
    quantized = words
  }

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
    activation.apply(to: &sums, threads: tensors.threads)
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
