// SPDX-License-Identifier: Apache-2.0
import Apus
import Dispatch
import Synchronization

/// Keeps up with a camera: runs a task on the newest frame, one at a time, and drops frames that there is no time for.
///
/// ```swift
/// let camera = LatestFrames(try ObjectDetector(modelFile: "detect.tflite"))
/// Task {
///   for await result in camera.results {
///     let detections = try result.answer.get().detections
///     show(try result.frame.drawing(detections))
///   }
/// }
/// camera.submit(frame, at: time)  // from any thread; returns at once
/// ```
///
/// While a frame is processed, the next one waits. A newer one takes its place, so results are never about a frame that
/// was old when its turn came. The caller is never blocked, nor are Swift's tasks: inference has a queue of its own.
public final class LatestFrames<Asked: VisionTask>: Sendable {
  /// The counts of frames so far, by outcome.
  public struct Statistics: Hashable, Sendable {
    /// All submitted frames.
    public internal(set) var submitted = 0
    /// Frames with a result, or an error other than a missed deadline.
    public internal(set) var answered = 0
    /// Frames that a newer one replaced before their turn, or that came after the end.
    public internal(set) var dropped = 0
    /// Frames whose deadline passed before there was a result.
    public internal(set) var expired = 0
    /// Frames of ``answered`` whose result a newer one replaced before it was read.
    public internal(set) var unread = 0
  }

  /// A frame that waits for its turn.
  private struct Waiting {
    let frame: ImageBuffer
    let time: Double?
    let number: Int
    let arrival: ContinuousClock.Instant
  }

  private struct State {
    var waiting: Waiting?
    var isBusy = false
    var isFinished = false
    var statistics = Statistics()
  }

  /// The results, as they come; a result that is not read in time is replaced by the next. For one reader.
  public let results: AsyncStream<FrameResult<Asked.Answer>>

  private let task: Asked
  private let region: PixelRect?
  private let deadline: Duration?
  private let continuation: AsyncStream<FrameResult<Asked.Answer>>.Continuation
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "apus.latest-frames", qos: .userInitiated)

  /// Makes a queue for one task.
  ///
  /// - Parameters:
  ///   - task: The task to run on each frame.
  ///   - region: The part of each frame to look at, in pixels after orientation; nil for the whole frame.
  ///   - deadline: The maximum time from a frame's arrival to its result. A frame that takes longer is given up, even during a
  ///     run. Nil means no limit.
  public init(_ task: Asked, region: PixelRect? = nil, deadline: Duration? = nil) {
    self.task = task
    self.region = region
    self.deadline = deadline
    (results, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { continuation.finish() }

  /// The counts of frames so far, by outcome.
  public var statistics: Statistics { state.withLock(\.statistics) }

  /// Submits a frame, which replaces one that still waits. Returns at once, from any thread. Trackers take the moment at which its turn comes
  /// for its time.
  ///
  /// - Returns: The frame's number, from 0.
  @discardableResult
  public func submit(_ frame: ImageBuffer) -> Int { submit(frame, at: nil) }

  /// Submits a frame with its time. It replaces one that still waits. Returns at once, from any thread.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: The frame's time in seconds, by which trackers smooth landmarks, and which the result has; nil for the moment at which its turn
  ///     comes. Either all frames have times, or none.
  /// - Returns: The frame's number, from 0.
  @discardableResult
  public func submit(_ frame: ImageBuffer, at time: Double?) -> Int {
    let arrival = ContinuousClock.now
    let (number, starts) = state.withLock { state in
      let number = state.statistics.submitted
      state.statistics.submitted += 1
      if state.isFinished || state.waiting != nil { state.statistics.dropped += 1 }
      guard !state.isFinished else { return (number, false) }
      state.waiting = Waiting(frame: frame, time: time, number: number, arrival: arrival)
      let starts = !state.isBusy
      state.isBusy = true
      return (number, starts)
    }
    if starts { queue.async { self.work() } }
    return number
  }

  /// Accepts no more frames. ``results`` ends after the last result.
  public func finish() {
    let isIdle = state.withLock { state in
      state.isFinished = true
      return !state.isBusy
    }
    if isIdle { continuation.finish() }
  }

  /// Processes waiting frames until there are none.
  private func work() {
    while let next = take() {
      let expiry = deadline.map { next.arrival + $0 }
      let answer: Result<Asked.Answer, ApusError>
      do throws(ApusError) {
        let cancellation = Cancellation(deadline: expiry)
        answer = .success(
          try task.answer(next.frame, at: next.time, in: region, cancellation: cancellation))
      } catch {
        answer = .failure(error)
      }
      let end = ContinuousClock.now
      let isLate = expiry.map { end >= $0 } ?? false
      state.withLock { state in
        if isLate { state.statistics.expired += 1 } else { state.statistics.answered += 1 }
      }
      if !isLate {
        let result = FrameResult(
          frame: next.frame, number: next.number, time: next.time, answer: answer,
          latency: end - next.arrival)
        switch continuation.yield(result) {
        case .dropped: state.withLock { $0.statistics.unread += 1 }
        // Without a reader, no frame is worth the work.
        case .terminated: state.withLock { $0.isFinished = true }
        default: break
        }
      }
    }
  }

  /// The next frame; nil if none waits, which ends the work.
  private func take() -> Waiting? {
    let (next, ends) = state.withLock { state -> (Waiting?, Bool) in
      let next = state.waiting
      state.waiting = nil
      if next == nil { state.isBusy = false }
      return (next, next == nil && state.isFinished)
    }
    if ends { continuation.finish() }
    return next
  }
}

/// ``LatestFrames`` for detection.
public typealias LatestFrameDetector = LatestFrames<ObjectDetector>

extension VisionTask {
  /// Results for the newest frames of a sequence, until it ends or fails. The sequence never waits for results.
  ///
  /// ```swift
  /// for await result in detector.latestAnswers(to: stream) { … }
  /// ```
  /// When the reader ends its loop and drops the results, or its task is cancelled, no more frames are taken. An error of the sequence ends
  /// the results, and the reader gets it. Of a sequence that cannot fail, such as an `AsyncStream`, results need no `try`.
  ///
  /// - Parameters:
  ///   - frames: The frames, as they come. A `VideoSource` or a `Camera` is one of `VideoFrame`s, which have times: ApusVideo takes it as it is.
  ///   - region: The part of each frame to look at; nil for the whole frame.
  ///   - deadline: The maximum time from a frame's arrival to its result; nil means no limit.
  /// - Returns: The results, for one reader.
  public func latestAnswers<Frames: AsyncSequence & Sendable>(
    to frames: Frames, in region: PixelRect? = nil, deadline: Duration? = nil
  ) -> some AsyncSequence<FrameResult<Answer>, Frames.Failure> & Sendable
  where Frames.Element == ImageBuffer {
    LatestAnswers(LatestFrames(self, region: region, deadline: deadline), to: frames) { ($0, nil) }
  }
}
