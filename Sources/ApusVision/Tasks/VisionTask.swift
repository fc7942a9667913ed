// SPDX-License-Identifier: Apache-2.0
import Apus

/// A model that answers one kind of question about pictures.
///
/// Tasks can be shared by threads: each concurrent caller gets an interpreter of its own, and all share the model's weights. Most are
/// immutable. Those of one video remember its frames, so that every video needs its own: ``LandmarkTracker``, ``HolisticTracker`` and
/// ``VideoSegmenter``.
///
/// Code for any task calls ``answer(_:in:cancellation:)``, or without the last two arguments; each task also has a verb of its own, such as
/// ``ObjectDetector/detect(_:in:cancellation:)``. Forms with and without `async` have one name. In an `async` function, Swift takes the one with
/// `async`; the other is there with `cancellation: nil`. In the top level of a `main.swift`, it takes the one that blocks.
public protocol VisionTask: Sendable {
  /// The type of the task's results.
  associatedtype Answer: VisionResult

  /// The task's assumptions about its model: enough to reproduce a result with other means.
  var assumptions: TaskAssumptions { get }

  /// How far files may be reduced while they are read without enlarging anything for the model. Reduced reading is faster,
  /// but gives slightly different pixels.
  var imageReduction: ImageReduction { get }

  /// The result for a picture.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture, after orientation, that the model looks at; nil for the whole picture. Positions in
  ///     the result refer to the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if the run takes more than the options of `interpreter` allow.
  func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) throws(ApusError)
    -> Answer

  /// The result for a frame of a video. Tasks that remember frames use its time; others have this function of the protocol, which does not.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: The frame's time in seconds; nil for now.
  ///   - region: The part of the frame, after orientation; nil for the whole frame.
  ///   - cancellation: A flag that stops the run.
  func answer(_ frame: ImageBuffer, at time: Double?, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> Answer

  /// The results for several pictures: those that ``answer(_:in:cancellation:)`` has for each, one after the other unless the task has this
  /// function of its own. The tasks of Apus share runs if it is proved that this changes no result.
  func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError) -> [Answer]
}

extension VisionTask {
  /// The result for a picture, whatever the time.
  public func answer(
    _ frame: ImageBuffer, at time: Double?, in region: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> Answer {
    try answer(frame, in: region, cancellation: cancellation)
  }

  /// The results for several pictures, one after the other.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError) -> [Answer] {
    var answers: [Answer] = []
    for image in images { answers.append(try answer(image, in: nil, cancellation: cancellation)) }
    return answers
  }

  /// The result for a picture. Blocks the caller.
  public func answer(_ image: ImageBuffer, in region: PixelRect? = nil) throws(ApusError) -> Answer {
    try answer(image, in: region, cancellation: nil)
  }

  /// The results for several pictures. Blocks the caller.
  public func answers(_ images: [ImageBuffer]) throws(ApusError) -> [Answer] {
    try answers(images, cancellation: nil)
  }

  /// The results for several pictures, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  @concurrent
  public func answers(_ images: [ImageBuffer]) async throws -> [Answer] {
    try await cancellable { cancellation throws(ApusError) in
      try answers(images, cancellation: cancellation)
    }
  }

  /// The result for a picture, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  @concurrent
  public func answer(_ image: ImageBuffer, in region: PixelRect? = nil) async throws -> Answer {
    try await cancellable { cancellation throws(ApusError) in
      try answer(image, in: region, cancellation: cancellation)
    }
  }
}
