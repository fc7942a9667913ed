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
/// given. They may change their size, as those of a camera do that is turned: positions then count as fractions of a frame.
public final class LandmarkTracker<Asked: LandmarkTask>: VisionTask {
  /// The task that finds landmarks in each frame.
  public let task: Asked
  /// How landmarks are smoothed; nil for not at all.
  public let smoothing: LandmarkSmoothing?

  /// The state after the frames so far.
  private struct State {
    var regions: [Region] = []
    /// For each of the regions.
    var filters: [SubjectFilter?] = []
    var lastTime: Double?
    /// The size of the frame before, in pixels.
    var size: (width: Int, height: Int)?

    /// The state in the pixels of a frame of that size.
    func scaled(to frame: (width: Int, height: Int)) -> State {
      guard let size, size != frame, size.width > 0, size.height > 0 else { return self }
      var state = self
      let x = Float(frame.width) / Float(size.width)
      let y = Float(frame.height) / Float(size.height)
      state.regions = regions.map { region in
        var scaled = region.scaled(x: x, y: y)
        // Models look at squares.
        if region.width == region.height {
          scaled.width = max(scaled.width, scaled.height)
          scaled.height = scaled.width
        }
        return scaled
      }
      state.filters = filters.map { $0?.scaled(x: x, y: y) }
      return state
    }
  }

  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// Makes a tracker for one video.
  public init(_ task: Asked, smoothing: LandmarkSmoothing? = LandmarkSmoothing()) {
    self.task = task
    self.smoothing = smoothing
  }

  /// The task's assumptions about its models.
  public var assumptions: TaskAssumptions { task.assumptions }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { task.imageReduction }

  /// Forgets all frames, as at a cut.
  public func reset() { state.withLock { $0 = State() } }

  /// The result for the next frame of a live video: its time is now.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> Asked.Answer
  {
    try answer(image, at: nil, in: region, cancellation: cancellation)
  }

  /// The result for the next frame: of a live video without a time, whose time is now.
  ///
  /// - Throws: `invalidArgument` for a time that is not later than that of the frame before; what the task throws. The tracker is then as
  ///   it was.
  public func answer(
    _ frame: ImageBuffer, at time: Double?, in region: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> Asked.Answer {
    // Without a time, it is taken where the frame's turn comes, so that frames of several tasks have times in order.
    try follow(
      frame, at: time ?? (ContinuousClock.now - start) / .seconds(1), in: region, cancellation: cancellation)
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
    try follow(frame, at: time, in: region, cancellation: cancellation)
  }

  /// The result for the next frame, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`; the tracker is then as it was.
  @concurrent
  public func track(
    _ frame: ImageBuffer, at time: Double, in region: PixelRect? = nil
  ) async throws -> Asked.Answer {
    try await cancellable { cancellation throws(ApusError) in
      try self.follow(frame, at: time, in: region, cancellation: cancellation)
    }
  }

  private func follow(
    _ frame: ImageBuffer, at now: @autoclosure () -> Double, in region: PixelRect?,
    cancellation: Cancellation?
  ) throws(ApusError) -> Asked.Answer {
    // One frame at a time: the next one needs what this one finds.
    try state.withLock { state throws(ApusError) in
      let time = now()
      try FrameTime.check(time, after: state.lastTime)
      let size = (width: frame.originalWidth, height: frame.originalHeight)
      let former = state.scaled(to: size)
      var next = State(lastTime: time, size: size)
      let result = try task.follow(
        frame, after: former.regions, in: region, cancellation: cancellation
      ) { result in
        for index in result.subjects.indices {
          // The models look exactly where the last frame said.
          let known = former.regions.lastIndex(of: result.subjects[index].region)
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
