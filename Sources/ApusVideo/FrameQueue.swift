// SPDX-License-Identifier: Apache-2.0
import Apus
import Dispatch
import Synchronization

/// Hands frames from the thread that reads them to one reader.
final class FrameQueue: Sendable {
  typealias Outcome = Result<VideoFrame?, ApusError>

  private struct State {
    var frames: [VideoFrame] = []
    var end: Outcome?
    var reader: (@Sendable (Outcome) -> Void)?
    /// Whether the source waits for space.
    var isSourceWaiting = false
    var statistics = VideoStatistics()
    var frameRate: Double?
  }

  /// Whether a newer frame replaces one that waits; otherwise the source waits.
  let keepsNewest: Bool
  private let capacity: Int
  private let state = Mutex(State())
  private let space: DispatchSemaphore

  init(keepsNewest: Bool, capacity: Int) {
    self.keepsNewest = keepsNewest
    self.capacity = capacity
    space = DispatchSemaphore(value: 0)
  }

  var statistics: VideoStatistics { state.withLock(\.statistics) }

  /// Whether no more frames are wanted.
  var isEnded: Bool { state.withLock { $0.end != nil } }

  /// The frames per second that the source announces; nil before its first frame, or if it does not say.
  var frameRate: Double? { state.withLock(\.frameRate) }

  func setFrameRate(_ rate: Double?) { state.withLock { $0.frameRate = rate } }

  func countRestart() { state.withLock { $0.statistics.restarts += 1 } }

  /// Counts frames that came, but that no reader gets: those that a newer one replaced at the source, and damaged ones.
  func count(older: Int, damaged: Int) {
    guard older + damaged > 0 else { return }
    state.withLock { state in
      state.statistics.arrived += older + damaged
      state.statistics.dropped += older
      state.statistics.damaged += damaged
    }
  }

  /// Delivers a frame; without ``keepsNewest``, blocks while the queue is full.
  func put(_ frame: VideoFrame) {
    while true {
      let (reader, isDone) = state.withLock { state -> ((@Sendable (Outcome) -> Void)?, Bool) in
        if state.end != nil { return (nil, true) }
        if let reader = state.reader {
          state.reader = nil
          state.statistics.arrived += 1
          return (reader, true)
        }
        if keepsNewest, !state.frames.isEmpty {
          state.statistics.dropped += state.frames.count
          state.frames.removeAll(keepingCapacity: true)
        }
        guard state.frames.count < capacity else {
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
  func finish(_ end: Outcome) {
    let (reader, wakes) = state.withLock { state in
      if state.end == nil { state.end = end }
      let result = (state.reader, state.isSourceWaiting)
      (state.reader, state.isSourceWaiting) = (nil, false)
      return result
    }
    if wakes { space.signal() }
    reader?(end)
  }

  /// Ends the sequence at once, as its reader has enough. How far the source has read ahead varies from run to run, so the frames that
  /// wait do not count.
  func stop() {
    state.withLock {
      $0.statistics.arrived -= $0.frames.count
      $0.frames = []
    }
    finish(.success(nil))
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

  /// The next frame; nil at the end. Suspends the caller.
  func next() async throws(ApusError) -> VideoFrame? {
    let outcome: Outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in take { continuation.resume(returning: $0) } }
    } onCancel: {
      stop()
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
