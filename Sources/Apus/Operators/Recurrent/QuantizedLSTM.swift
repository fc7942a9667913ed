// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// `LSTM` in its oldest form, on `uint8`: one matrix for all gates, and states that are inputs and outputs.
struct QuantizedLSTM: Operator {
  private let kernel: QuantizedLSTMCell
  private let input: TensorSlot
  private let oldOutput: TensorSlot
  private let weights: TensorSlot
  private let bias: TensorSlot
  private let oldCell: TensorSlot
  private let output: TensorSlot
  private let cell: TensorSlot
  private let joined: TensorSlot
  private let gates: TensorSlot
  private let returnsStates: [Bool]

  init(preparing node: Node) throws(ApusError) {
    try node.expect(inputs: 5...5, outputs: 4...4)
    input = try node.input(0, types: [.uint8], rank: 2)
    oldOutput = try node.input(1, types: [.uint8], rank: 2)
    weights = try node.input(2, types: [.uint8], rank: 2)
    oldCell = try node.input(4, types: [.int16], rank: 2)
    let (batch, units) = (input.shape[0], oldOutput.shape[1])
    let (depth, isTooDeep) = input.shape[1].addingReportingOverflow(units)
    let (rows, isTooHigh) = units.multipliedReportingOverflow(by: 4)
    guard !isTooDeep, !isTooHigh else { throw node.malformed("has too many units") }
    try node.declare(multiplyAccumulates: Double(batch) * Double(rows) * Double(depth))
    bias = try node.vector(3, count: rows, types: [.int32])
    guard weights.shape == [rows, depth], oldOutput.shape == [batch, units], oldCell.shape == [batch, units]
    else {
      throw node.malformed(
        "\(weights.name) is \(weights.shape), \(oldOutput.name) \(oldOutput.shape), \(oldCell.name) \(oldCell.shape)"
      )
    }
    output = try node.output(0, shape: [batch, units], types: [.uint8])
    cell = try node.output(1, shape: [batch, units], types: [.int16])
    joined = try node.output(2, shape: [batch, depth], types: [.uint8])
    gates = try node.output(3, shape: [batch, rows], types: [.int16])
    let cellScale = try node.quantization(of: cell).scale
    guard cellScale.roundedBinaryExponent == -11 else {
      throw node.malformed("\(cell.name) has the scale \(cellScale), not 2^-11")
    }
    kernel = QuantizedLSTMCell(
      units: units, depth: depth, weightsZeroPoint: try node.quantization(of: weights).zeroPoint,
      multiplier: FixedPointMultiplier(ScaleFactor.gate(bias: try node.quantization(of: bias).scale)))
    returnsStates = [oldOutput, oldCell].map { slot in node.isVariable(slot) }
  }

  func invoke(_ tensors: borrowing TensorTable) {
    guard joined.shape.elementCount > 0 else { return }
    let (units, depth) = (output.shape[1], joined.shape[1])
    let inputs = tensors.read(input, as: UInt8.self)
    let outputs = tensors.read(oldOutput, as: UInt8.self)
    for row in 0..<input.shape[0] {
      // A run that must end skips the rest, which is never read.
      if tensors.threads.mustStop { return }
      do {
        var values = tensors.write(joined, row * depth..<(row + 1) * depth, as: UInt8.self)
        let width = depth - units
        for index in 0..<width { values[index] = inputs[row * width + index] }
        for index in 0..<units { values[width + index] = outputs[row * units + index] }
      }
      do {
        var sums = tensors.write(gates, row * 4 * units..<(row + 1) * 4 * units, as: Int16.self)
        kernel.computeGates(
          tensors.read(joined, as: UInt8.self).extracting(row * depth..<(row + 1) * depth),
          weights: tensors.read(weights), bias: tensors.read(bias), into: &sums)
      }
      let range = row * units..<(row + 1) * units
      var cells = tensors.write(cell, range, as: Int16.self)
      var results = tensors.write(output, range, as: UInt8.self)
      kernel.update(
        gates: tensors.read(gates, as: Int16.self).extracting(row * 4 * units..<(row + 1) * 4 * units),
        oldCells: tensors.read(oldCell, as: Int16.self).extracting(range), cells: &cells, outputs: &results)
    }
    // Variables take the new values; inputs of the model keep theirs.
    if returnsStates[0] {
      var state = tensors.writeBytes(oldOutput)
      copyBytes(tensors.readBytes(output), to: &state)
    }
    if returnsStates[1] {
      var state = tensors.writeBytes(oldCell)
      copyBytes(tensors.readBytes(cell), to: &state)
    }
  }
}
