// SPDX-License-Identifier: Apache-2.0

/// Reads a sequence and keeps a state for each sequence of a batch.
protocol SequenceReader {
  /// Reads all sequences of a batch.
  func read(
    _ direction: SequenceNetwork.Direction, _ layout: SequenceLayout, _ tensors: borrowing TensorTable)

  /// How it works, for reports.
  var implementation: Implementation { get }
  /// Whether it has weights to pack.
  var hasWeights: Bool { get }
  /// The reader with its constant weights packed.
  func packed(by packer: WeightPacker) throws(ApusError) -> any SequenceReader
  /// The states that it changes, if it may run beside another reader, on another thread.
  var separateStates: [TensorSlot]? { get }
}

extension SequenceReader {
  var implementation: Implementation { .plain }
  var hasWeights: Bool { false }
  func packed(by packer: WeightPacker) throws(ApusError) -> any SequenceReader { self }
  var separateStates: [TensorSlot]? { nil }
}
