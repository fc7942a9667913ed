// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A layer that reads one sequence after the other, step by step.
protocol SequenceLayer: SequenceReader {
  /// Computes one step of one sequence.
  ///
  /// - Parameters:
  ///   - row: the row of the inputs.
  ///   - batch: the row of the states.
  ///   - offset: where in the output the result goes.
  func step(
    _ input: TensorSlot, auxiliary: TensorSlot?, row: Int, batch: Int, output: TensorSlot, offset: Int,
    _ tensors: borrowing TensorTable)
}

extension SequenceLayer {
  func read(
    _ direction: SequenceNetwork.Direction, _ layout: SequenceLayout, _ tensors: borrowing TensorTable
  ) {
    for batch in 0..<layout.batch {
      for count in 0..<layout.time {
        // A run that must end skips the rest, which is never read.
        if tensors.threads.mustStop { return }
        let row = layout.row(batch: batch, time: direction.step(count, of: layout))
        step(
          direction.input, auxiliary: direction.auxiliary, row: row, batch: batch, output: direction.output,
          offset: direction.place(row: row), tensors)
      }
    }
  }
}
