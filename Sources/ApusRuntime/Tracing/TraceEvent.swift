// SPDX-License-Identifier: Apache-2.0

/// Something that a thread did, from one time to another.
package struct TraceEvent: Sendable {
  /// The kinds of events.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// Reading a file.
    case read
    /// Reading a model and checking its bytes.
    case load
    /// Planning a model for its input shapes, and packing its weights.
    case prepare
    /// One picture, from its file to its answer.
    case picture
    /// A picture's file becomes pixels.
    case decode
    /// A picture, or a sound, becomes the model's input.
    case preprocess
    /// A run of a model.
    case invoke
    /// The outputs become an answer.
    case postprocess
    /// An answer is drawn on its picture, which is written.
    case annotate
    /// Other work of a command with an answer.
    case finish
    /// A step of a run: an operator, or several that are fused.
    case step
    /// The part of a step that another thread than the run's does.
    case share
    /// One tile of a step, or neighboring ones that are too short to be timed one by one.
    case tile
    /// The thread of a run waits until the others are done.
    case join
    /// A thread has no work.
    case idle
  }

  /// The kind of the event.
  package let kind: Kind
  /// The name that was registered for it, see ``Trace/register(_:)``; negative for none.
  package let label: Int32
  /// The first tile, or the step's position.
  package let number: Int32
  /// How many tiles.
  package let count: Int32
  /// When it began and when it ended, in nanoseconds of ``monotonicNanoseconds()``.
  package let start: Int
  package let end: Int
}
