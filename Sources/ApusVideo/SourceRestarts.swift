// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Starts a live source again where it ends, fails or stalls, after a delay that grows.
struct SourceRestarts {
  /// What one run of a source came to.
  enum End {
    /// The source has ended, with what it said last.
    case ended(message: String?)
    case failed(ApusError)
  }

  /// What was read so far, over all restarts.
  struct Progress {
    var frames = 0
    var first: ContinuousClock.Instant?
    /// The time of the last frame.
    var time: Double?
  }

  let isLive: Bool
  /// How often a source is started again without a frame in between.
  let limit: Int
  let queue: FrameQueue
  /// The error of a source that ended without a frame.
  let noFrames: (String?) -> ApusError

  /// Runs a source until it ends, fails or is not wanted any more.
  func run(_ readOnce: (inout Progress) -> End) {
    var progress = Progress()
    var attempts = 0
    var delay = 0.5
    while true {
      let before = progress.frames
      let end = readOnce(&progress)
      if queue.isEnded { return }
      let error: ApusError? =
        switch end {
        case .failed(let error): error
        case .ended(let message) where progress.frames == 0: noFrames(message)
        case .ended: nil
        }
      if progress.frames > before { (attempts, delay) = (0, 0.5) }
      attempts += 1
      guard isLive, progress.frames > 0, attempts <= limit else {
        return queue.finish(error.map { .failure($0) } ?? .success(nil))
      }
      queue.countRestart()
      let start = monotonicNanoseconds()
      while Double(monotonicNanoseconds() - start) < delay * 1e9 {
        if queue.isEnded { return }
        usleep(50_000)
      }
      delay = min(2 * delay, 30)
    }
  }
}
