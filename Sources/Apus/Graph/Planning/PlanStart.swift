// SPDX-License-Identifier: Apache-2.0

/// The state before a segment: all that is planned, and possibly has run, by then. Immutable.
///
/// It is a class, so that planners pass it on at little cost.
final class PlanStart {
  /// The first operator of the segment.
  let nextNode: Int
  let facts: [TensorFacts]
  /// The size of each piece of scratch memory, in bytes.
  let scratchByteCounts: [Int]
  /// The tensors whose values exist.
  let present: PresentTensors
  let segmentCount: Int
  /// The size of inputs, variables and earlier segments, in bytes.
  let heldByteCount: Int
  /// Whether everything before has run, so that its results can be read.
  let isRunning: Bool

  init(
    nextNode: Int, facts: [TensorFacts], scratchByteCounts: [Int] = [], present: PresentTensors,
    segmentCount: Int, heldByteCount: Int, isRunning: Bool
  ) {
    self.nextNode = nextNode
    self.facts = facts
    self.scratchByteCounts = scratchByteCounts
    self.present = present
    self.segmentCount = segmentCount
    self.heldByteCount = heldByteCount
    self.isRunning = isRunning
  }
}
