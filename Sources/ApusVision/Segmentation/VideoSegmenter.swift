// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// Segments the pictures of one video, for models that take the mask of the picture before, such as MediaPipe's for hair.
///
/// ```swift
/// let camera = LatestFrames(VideoSegmenter(try ImageSegmenter(modelFile: "hair.tflite")))
/// ```
///
/// Each picture is segmented with the result of the one that was finished before it; the first with an empty mask. With other models,
/// it does what its ``ImageSegmenter`` does. A video needs a segmenter of its own; several can share one ``ImageSegmenter``.
public final class VideoSegmenter: VisionTask {
  /// The segmenter that segments each picture.
  public let segmenter: ImageSegmenter
  private let last = Mutex<SegmentationResult?>(nil)

  /// Makes a segmenter for one video.
  public init(_ segmenter: ImageSegmenter) { self.segmenter = segmenter }

  /// The task's assumptions about the model.
  public var assumptions: TaskAssumptions { segmenter.assumptions }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { segmenter.imageReduction }

  /// Forgets the last picture, as at a cut.
  public func reset() { last.withLock { $0 = nil } }

  /// Segments the next picture.
  ///
  /// - Throws: What ``ImageSegmenter/segment(_:in:after:cancellation:)`` throws; the result before then stays.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> SegmentationResult
  {
    let previous = last.withLock { $0 }
    let result = try segmenter.segment(image, in: region, after: previous, cancellation: cancellation)
    if segmenter.usesPreviousMask { last.withLock { $0 = result } }
    return result
  }

  /// Segments the next picture.
  ///
  /// - Throws: What ``ImageSegmenter/segment(_:in:after:cancellation:)`` throws; the result before then stays.
  public func segment(_ frame: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil)
    throws(ApusError) -> SegmentationResult
  {
    try answer(frame, in: region, cancellation: cancellation)
  }

  /// Segments the next picture, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`; the result before then stays.
  @concurrent
  public func segment(_ frame: ImageBuffer, in region: PixelRect? = nil) async throws -> SegmentationResult {
    try await cancellable { cancellation throws(ApusError) in
      try self.answer(frame, in: region, cancellation: cancellation)
    }
  }
}
