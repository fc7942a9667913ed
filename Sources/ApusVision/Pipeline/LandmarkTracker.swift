// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// Follows hands, faces or people through the frames of one video: looks where they were, and smooths their landmarks.
///
/// ```swift
/// let tracker = LandmarkTracker(try HandLandmarker(modelFile: "hand_landmarker.task"))
/// let camera = LatestFrames(tracker)
/// ```
///
/// A video needs a tracker of its own; several can share one task. Frames are processed one at a time, in the order in which they are
/// given.
public final class LandmarkTracker<Asked: LandmarkTask>: VisionTask {
  /// What finds landmarks in each frame.
  public let task: Asked
  /// How landmarks are smoothed; nil for not at all.
  public let smoothing: LandmarkSmoothing?

  /// What is known from the frames before.
  private struct State {
    var regions: [Region] = []
    /// For each of the regions.
    var filters: [SubjectFilter?] = []
    var lastTime: Double?
  }

  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// Makes a tracker for one video.
  public init(_ task: Asked, smoothing: LandmarkSmoothing? = LandmarkSmoothing()) {
    self.task = task
    self.smoothing = smoothing
  }

  /// What the task assumes about its models.
  public var assumptions: TaskAssumptions { task.assumptions }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { task.imageReduction }

  /// Forgets all frames, as at a cut.
  public func reset() { state.withLock { $0 = State() } }

  /// The result for the next frame of a live video: its time is now.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> Asked.Answer
  {
    try track(
      image, at: (ContinuousClock.now - start) / .seconds(1), in: region, cancellation: cancellation
    )
  }

  /// The results for several frames, one after the other.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [Asked.Answer]
  {
    var results: [Asked.Answer] = []
    for image in images { results.append(try answer(image, in: nil, cancellation: cancellation)) }
    return results
  }

  /// The result for the next frame.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: Its time in seconds, later than that of the frame before.
  ///   - region: The part that the detector searches, in pixels after orientation; nil for the whole frame. What is tracked may leave it.
  ///   - cancellation: A flag that stops the run.
  /// - Throws: `invalidArgument` for a time that is not later; what the task throws. The tracker is then as it was.
  public func track(
    _ frame: ImageBuffer, at time: Double, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> Asked.Answer {
    // One frame at a time: the next one needs what this one finds.
    try state.withLock { state throws(ApusError) in
      try FrameTime.check(time, after: state.lastTime)
      let former = state
      var next = State(lastTime: time)
      let result = try task.follow(
        frame, after: former.regions, in: region, cancellation: cancellation
      ) { result in
        for index in result.subjects.indices {
          // The models look exactly where the last frame said.
          let known = former.regions.firstIndex(of: result.subjects[index].region)
          var filter = known.flatMap { former.filters[$0] } ?? smoothing.map(SubjectFilter.init)
          filter?.smooth(&result.subjects[index], at: time)
          let region = result.subjects[index].nextRegion
          guard region.isUsable else { continue }
          next.regions.append(region)
          next.filters.append(filter)
        }
      }
      state = next
      return result
    }
  }
}
