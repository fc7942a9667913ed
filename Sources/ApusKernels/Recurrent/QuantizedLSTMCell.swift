/// One step of the oldest LSTM on bytes, with gates and cells of 16 bits.
///
/// Gates are Q3, cells Q4, inputs and outputs bytes around 128 in units of 1/128, as the reference prescribes.
package struct QuantizedLSTMCell: Hashable, Sendable {
  /// Values in each row of the output; the weights have four times as many rows.
  let units: Int
  /// Values of the input and the last output together.
  let depth: Int
  private let weightsZeroPoint: Int32
  private let multiplier: FixedPointMultiplier

  /// Describes a cell; `multiplier` takes sums to Q3.
  package init(units: Int, depth: Int, weightsZeroPoint: Int32, multiplier: FixedPointMultiplier) {
    self.units = units
    self.depth = depth
    self.weightsZeroPoint = weightsZeroPoint
    self.multiplier = multiplier
  }

  /// Computes the gates of one row, which lie behind each other: input, new values, forget, output.
  package func computeGates(
    _ values: Span<UInt8>, weights: Span<UInt8>, bias: Span<Int32>, into gates: inout MutableSpan<Int16>
  ) {
    precondition(values.count == depth && weights.count == depth * gates.count && bias.count == gates.count)
    for gate in 0..<gates.count {
      var sum = bias[gate]
      for index in 0..<depth {
        let weight = Int32(weights[gate * depth + index]) &- weightsZeroPoint
        sum &+= (Int32(values[index]) &- 128) &* weight
      }
      // The one kernel of the reference rounds halves up.
      gates[gate] = Int16(clamping: multiplier.applyUpward(sum))
    }
  }

  /// The next cells and outputs of one row.
  package func update(
    gates: Span<Int16>, oldCells: Span<Int16>, cells: inout MutableSpan<Int16>,
    outputs: inout MutableSpan<UInt8>
  ) {
    precondition(
      gates.count == 4 * units && oldCells.count == units && cells.count == units && outputs.count == units)
    for unit in 0..<units {
      let input = WordFunctions.logistic(gates[unit])
      let value = WordFunctions.tanh(gates[units + unit], integerBits: 3)
      let forget = WordFunctions.logistic(gates[2 * units + unit])
      let output = WordFunctions.logistic(gates[3 * units + unit])
      let added = roundingDivideByPowerOfTwo(Int32(WordFunctions.multiply(input, value)), 4)
      let cell = Int16(clamping: added &+ Int32(WordFunctions.multiply(forget, oldCells[unit])))
      cells[unit] = cell
      let squashed = WordFunctions.tanh(WordFunctions.saturatingShiftLeft(cell, 1), integerBits: 3)
      let result = roundingDivideByPowerOfTwo(Int32(WordFunctions.multiply(output, squashed)), 8)
      outputs[unit] = UInt8(truncatingIfNeeded: 128 &+ min(max(result, -128), 127))
    }
  }
}
