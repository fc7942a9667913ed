// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// Follows one person's body, hands and face through the frames of a video.
///
/// ```swift
/// let camera = LatestFrames(HolisticTracker(try HolisticLandmarker(modelFile: "holistic_landmarker.task")))
/// ```
///
/// A video needs a tracker of its own; several can share one ``HolisticLandmarker``. Frames are processed one at a time, in the order in which
/// they are given.
public final class HolisticTracker: VisionTask {
  /// What finds the person in each frame.
  public let task: HolisticLandmarker
  private let last = Mutex<HolisticResult?>(nil)

  /// Makes a tracker for one video.
  public init(_ task: HolisticLandmarker) { self.task = task }

  /// What the task assumes about the pose model.
  public var assumptions: TaskAssumptions { task.assumptions }

  /// Files are never reduced while they are read.
  public var imageReduction: ImageReduction { task.imageReduction }

  /// Forgets all frames, as at a cut.
  public func reset() { last.withLock { $0 = nil } }

  /// The result for the next frame.
  ///
  /// - Throws: What the task throws; the tracker is then as it was.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> HolisticResult
  {
    try last.withLock { last throws(ApusError) in
      let result = try task.follow(image, after: last, in: region, cancellation: cancellation)
      last = result
      return result
    }
  }

  /// The results for several frames, one after the other.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [HolisticResult]
  {
    var results: [HolisticResult] = []
    for image in images { results.append(try answer(image, in: nil, cancellation: cancellation)) }
    return results
  }
}
