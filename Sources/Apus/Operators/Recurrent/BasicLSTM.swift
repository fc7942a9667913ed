// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// `LSTM` in its oldest form: one matrix for all gates, and states that are inputs and outputs.
struct BasicLSTM: Operator {
  private let input: TensorSlot
  private let oldOutput: TensorSlot
  private let weights: RecurrentWeights
  private let bias: TensorSlot
  private let oldCell: TensorSlot
  private let output: TensorSlot
  private let cell: TensorSlot
  private let joined: TensorSlot
  private let gates: TensorSlot
  private let returnsStates: [Bool]

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 5...5, outputs: 4...4)
    return try BasicLSTM(preparing: node)
  }

  private init(preparing node: Node) throws(ApusError) {
    input = try node.input(0, types: [.float32], rank: 2)
    oldOutput = try node.input(1, types: [.float32], rank: 2)
    oldCell = try node.input(4, types: [.float32], rank: 2)
    let (batch, units) = (input.shape[0], oldOutput.shape[1])
    let (depth, isTooDeep) = input.shape[1].addingReportingOverflow(units)
    let (rows, isTooHigh) = units.multipliedReportingOverflow(by: 4)
    guard !isTooDeep, !isTooHigh else { throw node.malformed("has too many units") }
    try node.declare(multiplyAccumulates: Double(batch) * Double(rows) * Double(depth))
    _ = try node.input(2, types: [.float32])
    weights = try node.recurrentWeights(2, rows: rows, depth: depth)
    bias = try node.vector(3, count: rows)
    guard oldOutput.shape == [batch, units], oldCell.shape == [batch, units] else {
      throw node.malformed("\(oldOutput.name) is \(oldOutput.shape), \(oldCell.name) \(oldCell.shape)")
    }
    output = try node.output(0, shape: [batch, units], like: input)
    cell = try node.output(1, shape: [batch, units], like: input)
    joined = try node.output(2, shape: [batch, depth], like: input)
    gates = try node.output(3, shape: [batch, rows], like: input)
    // Variables take the new values; inputs of the model keep theirs.
    returnsStates = [oldOutput, oldCell].map { slot in node.isVariable(slot) }
  }

  func invoke(_ tensors: borrowing TensorTable) {
    guard joined.shape.elementCount > 0 else { return }
    let (units, depth) = (output.shape[1], joined.shape[1])
    let inputs = tensors.read(input, as: Float.self)
    let outputs = tensors.read(oldOutput, as: Float.self)
    for row in 0..<input.shape[0] {
      // A run that must end skips the rest, which is never read.
      if tensors.threads.mustStop { return }
      do {
        var all = tensors.write(joined, as: Float.self)
        for index in 0..<depth {
          let isInput = index < depth - units
          all[row * depth + index] =
            isInput ? inputs[row * (depth - units) + index] : outputs[row * units + index - (depth - units)]
        }
      }
      let vector = RecurrentVector(
        joined, row: row, count: depth, quantized: nil, isAsymmetric: false, tensors)
      var sums = tensors.write(gates, row * 4 * units..<(row + 1) * 4 * units, as: Float.self)
      RecurrentFloats.copy(tensors.read(bias), to: &sums)
      weights.add(vector, to: &sums, clampsSums: true, tensors)
      update(row, tensors)
    }
    if returnsStates[0] {
      var state = tensors.write(oldOutput, as: Float.self)
      RecurrentFloats.copy(tensors.read(output), to: &state)
    }
    if returnsStates[1] {
      var state = tensors.write(oldCell, as: Float.self)
      RecurrentFloats.copy(tensors.read(cell), to: &state)
    }
  }

  /// The gates lie one after the other: input, new values, forget, output.
  private func update(_ row: Int, _ tensors: borrowing TensorTable) {
    let units = output.shape[1]
    let sums = tensors.read(gates, as: Float.self).extracting(row * 4 * units..<(row + 1) * 4 * units)
    let oldCells = tensors.read(oldCell, as: Float.self)
    var cells = tensors.write(cell, as: Float.self)
    var outputs = tensors.write(output, as: Float.self)
    var poll = StopPoll(tensors.threads)
    for unit in 0..<units {
      // Five exponentials for each.
      if poll.mustStop(atTurn: unit, of: units, steps: 64) { return }
      let input = RecurrentFloats.logistic(sums[unit])
      let value = RecurrentFloats.hyperbolicTangent(sums[units + unit])
      let forget = RecurrentFloats.logistic(sums[2 * units + unit])
      let state = input * value + forget * oldCells[row * units + unit]
      cells[row * units + unit] = state
      outputs[row * units + unit] =
        RecurrentFloats.logistic(sums[3 * units + unit]) * RecurrentFloats.hyperbolicTangent(state)
    }
  }
}
