// SPDX-License-Identifier: Apache-2.0

/// A layer that reads a sequence step by step and keeps a state for each sequence of a batch.
protocol SequenceLayer {
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
