// SPDX-License-Identifier: Apache-2.0
import Apus
import Dispatch
import Synchronization

/// Hands frames from the thread that reads them to one reader.
final class FrameQueue: Sendable {
  typealias Outcome = Result<VideoFrame?, ApusError>

  private struct State {
    /// Whether a newer frame replaces one that waits; otherwise the source waits.
    var keepsNewest: Bool
    /// The maximum number of frames that wait.
    var capacity: Int { keepsNewest ? 1 : 2 }
    var frames: [VideoFrame] = []
    var end: Outcome?
    var reader: (@Sendable (Outcome) -> Void)?
    /// Whether the source waits for space.
    var isSourceWaiting = false
    var statistics = VideoStatistics()
    var frameRate: Double?
    var pixelAspect = PixelAspect.square
    /// Whether the source was started again and has given no frame since.
    var isInterrupted = false
    var observer: (@Sendable (VideoSource.Interruption) -> Void)?
  }

  private let state: Mutex<State>
  private let space: DispatchSemaphore

  init(keepsNewest: Bool) {
    state = Mutex(State(keepsNewest: keepsNewest))
    space = DispatchSemaphore(value: 0)
  }

  /// Whether a newer frame replaces one that waits; otherwise the source waits.
  var keepsNewest: Bool { state.withLock(\.keepsNewest) }

  /// Lets newer frames replace those that wait, from now on. Called by the thread that reads, before its first frame.
  func keepNewest() { state.withLock { $0.keepsNewest = true } }

  var statistics: VideoStatistics { state.withLock(\.statistics) }

  /// Whether no more frames are wanted.
  var isEnded: Bool { state.withLock { $0.end != nil } }

  /// The frames per second that the source announces; nil before its first frame, or if it does not say.
  var frameRate: Double? { state.withLock(\.frameRate) }

  /// The shape of pixels that the source announces.
  var pixelAspect: PixelAspect { state.withLock(\.pixelAspect) }

  /// - Parameter frameRate: The frames per second; nil for those of the header.
  func announce(_ header: Y4MHeader, frameRate: Double? = nil) {
    state.withLock {
      ($0.frameRate, $0.pixelAspect) = (frameRate ?? header.frameRate, header.pixelAspect)
    }
  }

  /// Counts a restart, and tells the observer of the first one since the last frame.
  func countRestart(because reason: String) {
    let observer = state.withLock { state in
      state.statistics.restarts += 1
      state.statistics.restartReason = reason
      defer { state.isInterrupted = true }
      return state.isInterrupted ? nil : state.observer
    }
    observer?(.began(reason: reason))
  }

  /// Notes that there is a frame again, and tells the observer.
  private func endInterruption() {
    let observer = state.withLock { state in
      defer { state.isInterrupted = false }
      return state.isInterrupted ? state.observer : nil
    }
    observer?(.ended)
  }

  /// Calls `observer` on the thread that reads, where a source is interrupted, and where it gives frames again.
  func observe(_ observer: @escaping @Sendable (VideoSource.Interruption) -> Void) {
    state.withLock { $0.observer = observer }
  }

  /// Counts frames that came, but that no reader gets: those that a newer one replaced at the source, and damaged ones.
  func count(older: Int, damaged: Int) {
    guard older + damaged > 0 else { return }
    state.withLock { state in
      state.statistics.arrived += older + damaged
      state.statistics.dropped += older
      state.statistics.damaged += damaged
    }
  }

  /// Counts damaged frames, which a reader gets all the same, or which ffmpeg leaves out.
  func countDamage(_ message: String, count: Int) {
    state.withLock { state in
      guard state.end == nil else { return }
      state.statistics.damaged += count
      if state.statistics.damageReason == nil { state.statistics.damageReason = message }
    }
  }

  /// Delivers a frame; unless newer frames replace older ones, blocks while the queue is full.
  func put(_ frame: VideoFrame) {
    endInterruption()
    while true {
      let (reader, isDone) = state.withLock { state -> ((@Sendable (Outcome) -> Void)?, Bool) in
        if state.end != nil { return (nil, true) }
        if let reader = state.reader {
          state.reader = nil
          state.statistics.arrived += 1
          return (reader, true)
        }
        if state.keepsNewest, !state.frames.isEmpty {
          state.statistics.dropped += state.frames.count
          state.frames.removeAll(keepingCapacity: true)
        }
        guard state.frames.count < state.capacity else {
          state.isSourceWaiting = true
          return (nil, false)
        }
        state.frames.append(frame)
        state.statistics.arrived += 1
        return (nil, true)
      }
      reader?(.success(frame))
      if isDone { return }
      space.wait()
    }
  }

  /// Ends the sequence after the frames that wait; the first end counts.
  func finish(_ end: Outcome) { finish(end, dropsFrames: false) }

  /// - Parameter dropsFrames: Whether the frames that wait do not count: how far the source has read ahead varies from run to run.
  private func finish(_ end: Outcome, dropsFrames: Bool) {
    let (reader, wakes) = state.withLock { state in
      var isCut = false
      if dropsFrames {
        state.statistics.arrived -= state.frames.count
        // Without the frames that wait, the source's end is not reached; an error is.
        if case .success? = state.end { isCut = !state.frames.isEmpty }
        state.frames = []
      }
      if state.end == nil || isCut { state.end = end }
      let result = (state.reader, state.isSourceWaiting)
      // The reader that waits gets the end, and an error is thrown once.
      if state.reader != nil { state.end = .success(nil) }
      (state.reader, state.isSourceWaiting) = (nil, false)
      return result
    }
    if wakes { space.signal() }
    reader?(end)
  }

  /// Ends the sequence at once, as its reader has enough.
  func stop() { finish(.success(nil), dropsFrames: true) }

  /// Ends the sequence at once, as its reader's task was cancelled. The reader gets an error: an end would say that there are no more frames.
  private func cancel() {
    finish(.failure(ApusError(.cancelled, "the task that reads frames was cancelled")), dropsFrames: true)
  }

  /// Calls `reader` with the next frame, at once or when there is one.
  func take(_ reader: @escaping @Sendable (Outcome) -> Void) {
    let (outcome, former, wakes) = state.withLock {
      state -> (Outcome?, (@Sendable (Outcome) -> Void)?, Bool) in
      if !state.frames.isEmpty {
        let wakes = state.isSourceWaiting
        state.isSourceWaiting = false
        return (.success(state.frames.removeFirst()), nil, wakes)
      }
      if let end = state.end {
        // An error is thrown once.
        state.end = .success(nil)
        return (end, nil, false)
      }
      let former = state.reader
      state.reader = reader
      return (nil, former, false)
    }
    if wakes { space.signal() }
    // A second reader takes the place of the first.
    former?(.success(nil))
    if let outcome { reader(outcome) }
  }

  /// The next frame; nil at the end. Suspends the caller, and throws `cancelled` if the caller's task is cancelled.
  func next() async throws(ApusError) -> VideoFrame? {
    let outcome: Outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in take { continuation.resume(returning: $0) } }
    } onCancel: {
      cancel()
    }
    return try outcome.get()
  }

  /// The next frame; nil at the end. Blocks the caller's thread, which must not be one of Swift's pool.
  func waitForNext() throws(ApusError) -> VideoFrame? {
    let semaphore = DispatchSemaphore(value: 0)
    let box = OutcomeBox()
    take { outcome in
      box.outcome.withLock { $0 = outcome }
      semaphore.signal()
    }
    semaphore.wait()
    return try box.outcome.withLock { $0 }.get()
  }

  private final class OutcomeBox: Sendable {
    let outcome = Mutex(Outcome.success(nil))
  }
}
