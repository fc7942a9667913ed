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
/// they are given. They may change their size: positions then count as fractions of a frame.
public final class HolisticTracker: VisionTask {
  /// The task that finds the person in each frame.
  public let task: HolisticLandmarker
  /// How the body is smoothed, where hands and face are looked for included; nil for not at all. Hands and faces are as the models find them.
  public let smoothing: LandmarkSmoothing?

  /// The state after the frames so far.
  private struct State {
    var last: HolisticResult?
    /// The body's filters.
    var filter: SubjectFilter?
    var lastTime: Double?

    /// The state in the pixels of a frame of that size.
    func scaled(toWidth width: Int, height: Int) -> State {
      guard let last, last.imageWidth > 0, last.imageHeight > 0 else { return self }
      let (x, y) = (Float(width) / Float(last.imageWidth), Float(height) / Float(last.imageHeight))
      guard x != 1 || y != 1 else { return self }
      return State(
        last: last.scaled(toWidth: width, height: height), filter: filter?.scaled(x: x, y: y),
        lastTime: lastTime)
    }
  }

  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// Makes a tracker for one video. Bodies are smoothed as by MediaPipe's `HolisticLandmarker`.
  public init(_ task: HolisticLandmarker, smoothing: LandmarkSmoothing? = .withRegions) {
    self.task = task
    self.smoothing = smoothing
  }

  /// The task's assumptions about the pose model.
  public var assumptions: TaskAssumptions { task.assumptions }

  /// Files are never reduced while they are read.
  public var imageReduction: ImageReduction { task.imageReduction }

  /// Forgets all frames, as at a cut.
  public func reset() { state.withLock { $0 = State() } }

  /// The result for the next frame of a live video: its time is now.
  ///
  /// - Throws: What the task throws; the tracker is then as it was.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> HolisticResult
  {
    try answer(image, at: nil, in: region, cancellation: cancellation)
  }

  /// The result for the next frame: of a live video without a time, whose time is now.
  ///
  /// - Throws: `invalidArgument` for a time that is not later than that of the frame before; what the task throws. The tracker is then as
  ///   it was.
  public func answer(
    _ frame: ImageBuffer, at time: Double?, in region: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> HolisticResult {
    // Without a time, it is taken where the frame's turn comes, so that frames of several tasks have times in order.
    try follow(
      frame, at: time ?? (ContinuousClock.now - start) / .seconds(1), in: region, cancellation: cancellation)
  }

  /// The result for the next frame.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: Its time in seconds, later than that of the frame before.
  ///   - region: The part in which people are searched for, in pixels after orientation; nil for the whole frame. What is tracked may leave it.
  ///   - cancellation: A flag that stops the run.
  /// - Throws: `invalidArgument` for a time that is not later; what the task throws. The tracker is then as it was.
  public func track(
    _ frame: ImageBuffer, at time: Double, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> HolisticResult {
    try follow(frame, at: time, in: region, cancellation: cancellation)
  }

  /// The result for the next frame, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`; the tracker is then as it was.
  @concurrent
  public func track(
    _ frame: ImageBuffer, at time: Double, in region: PixelRect? = nil
  ) async throws -> HolisticResult {
    try await cancellable { cancellation throws(ApusError) in
      try self.follow(frame, at: time, in: region, cancellation: cancellation)
    }
  }

  private func follow(
    _ frame: ImageBuffer, at now: @autoclosure () -> Double, in region: PixelRect?,
    cancellation: Cancellation?
  ) throws(ApusError) -> HolisticResult {
    // One frame at a time: the next one needs what this one finds.
    try state.withLock { state throws(ApusError) in
      let time = now()
      try FrameTime.check(time, after: state.lastTime)
      let former = state.scaled(toWidth: frame.originalWidth, height: frame.originalHeight)
      var filter: SubjectFilter?
      let result = try task.follow(
        frame, after: former.last, in: region, cancellation: cancellation
      ) { pose in
        let isKnown = former.last?.pose?.nextRegion == pose.region
        filter = (isKnown ? former.filter : nil) ?? smoothing.map(SubjectFilter.init)
        filter?.smooth(&pose, at: time)
      }
      state = State(last: result, filter: filter, lastTime: time)
      return result
    }
  }
}
