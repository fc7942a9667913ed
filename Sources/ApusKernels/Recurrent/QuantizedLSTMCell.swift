// SPDX-License-Identifier: Apache-2.0

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

  /// Describes a cell; `multiplier` rescales sums to Q3.
  package init(units: Int, depth: Int, weightsZeroPoint: Int32, multiplier: FixedPointMultiplier) {
    self.units = units
    self.depth = depth
    self.weightsZeroPoint = weightsZeroPoint
    self.multiplier = multiplier
  }

  /// Computes the gates of one row, in this order: input, new values, forget, output.
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
      // The reference's only kernel rounds halves up.
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
    for first in stride(from: 0, to: units, by: 8) {
      let input = WordFunctions.logistic(lanes(gates, first))
      let value = WordFunctions.tanh(lanes(gates, units + first), integerBits: 3)
      let forget = WordFunctions.logistic(lanes(gates, 2 * units + first))
      let output = WordFunctions.logistic(lanes(gates, 3 * units + first))
      let added = WordFunctions.roundingDivide(WordFunctions.multiply(input, value), 4)
      let kept = WordFunctions.multiply(forget, lanes(oldCells, first))
      let cell = SIMD8<Int16>(saturating: SIMD8<Int32>(widening: added) &+ SIMD8<Int32>(widening: kept))
      let squashed = WordFunctions.tanh(WordFunctions.saturatingShiftLeft(cell, 1), integerBits: 3)
      let result = WordFunctions.roundingDivide(WordFunctions.multiply(output, squashed), 8)
      for lane in 0..<min(8, units - first) {
        cells[first + lane] = cell[lane]
        outputs[first + lane] = UInt8(truncatingIfNeeded: 128 &+ min(max(result[lane], -128), 127))
      }
    }
  }

  /// Eight numbers, with zeros beyond the end.
  private func lanes(_ numbers: Span<Int16>, _ first: Int) -> SIMD8<Int16> {
    var lanes = SIMD8<Int16>()
    for lane in 0..<min(8, numbers.count - first) { lanes[lane] = numbers[first + lane] }
    return lanes
  }
}
