// SPDX-License-Identifier: Apache-2.0
import Apus

/// One model, asked one kind of question about pictures.
///
/// Tasks are immutable and can be shared: each caller at the same time has an interpreter of its own, and all share the
/// model's weights. Programs that work with any task call ``answer(_:in:cancellation:)``; each task has a verb of its own
/// as well, such as ``ObjectDetector/detect(_:in:cancellation:)``.
public protocol VisionTask: Sendable {
  /// What the task answers.
  associatedtype Answer: VisionResult

  /// What the task takes for granted about its model, so that others can reproduce an answer.
  var assumptions: TaskAssumptions { get }

  /// How far files may be reduced while they are read, so that nothing has to be enlarged for the model: faster than reading
  /// every pixel, but with slightly other pixels.
  var imageReduction: ImageReduction { get }

  /// Answers to a picture.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture, as it is seen, that the model is to look at; nil for all of it. Positions in
  ///     the answer are those of the whole picture.
  ///   - cancellation: A flag that is looked at before each operator.
  /// - Throws: `cancelled`, `invalidArgument` for a region without pixels, or what only the data of a run can cause.
  func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) throws(ApusError)
    -> Answer

  /// Answers to several pictures, in one run where the model leaves its batch open.
  func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError) -> [Answer]
}

extension VisionTask {
  /// Answers to a picture away from the caller's actor; cancelling the caller's task stops the run.
  @concurrent
  public func answer(_ image: ImageBuffer, in region: PixelRect? = nil) async throws(ApusError) -> Answer {
    let cancellation = Cancellation()
    let result = await withTaskCancellationHandler {
      do throws(ApusError) {
        return Result<Answer, ApusError>.success(
          try answer(image, in: region, cancellation: cancellation))
      } catch {
        return Result<Answer, ApusError>.failure(error)
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}
