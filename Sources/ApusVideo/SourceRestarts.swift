// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Starts a live source again where it ends, fails or stalls, after a delay that grows.
struct SourceRestarts {
  /// How one run of a source ended.
  enum End {
    /// The source has ended, with what it said last.
    case ended(message: String?)
    case failed(ApusError)
  }

  /// The progress of reading so far, over all restarts.
  struct Progress {
    /// The frames that came, damaged and dropped ones among them.
    var frames = 0
    /// The frames that a reader may get.
    var delivered = 0
    private var first: ContinuousClock.Instant?
    private var lastTime: Double?

    /// The time of a frame that is delivered, in seconds from the first one on: when it arrived, but later than the frame before it.
    mutating func time(ofArrival arrival: ContinuousClock.Instant) -> Double {
      let beginning = first ?? arrival
      first = beginning
      // Drivers repeat stamps, or step back.
      let time = max((arrival - beginning) / .seconds(1), lastTime.map { $0 + 1e-6 } ?? 0)
      lastTime = time
      return time
    }
  }

  /// Whether there may be frames again after an end: of a live stream or device.
  let comesBack: () -> Bool
  /// How often a source is started again without a frame in between.
  let limit: Int
  let queue: FrameQueue
  /// The error of a source that ended without a frame, or without a further one, from what it said last.
  let noFrames: (String?) -> ApusError

  private func reason(of end: End) -> String {
    switch end {
    case .failed(let error): error.message
    case .ended(let message): noFrames(message ?? "it has ended").message
    }
  }

  /// Runs a source until it ends, fails or is not wanted any more.
  func run(_ readOnce: (inout Progress) -> End) {
    var progress = Progress()
    var attempts = 0
    var delay = 0.5
    while true {
      let before = progress.delivered
      let end = readOnce(&progress)
      if queue.isEnded { return }
      let error: ApusError? =
        switch end {
        case .failed(let error): error
        case .ended(let message) where progress.delivered == 0: noFrames(message)
        case .ended: nil
        }
      if progress.delivered > before { (attempts, delay) = (0, 0.5) }
      attempts += 1
      guard comesBack(), progress.delivered > 0, attempts <= limit else {
        return queue.finish(error.map { .failure($0) } ?? .success(nil))
      }
      queue.countRestart(because: reason(of: end))
      let start = monotonicNanoseconds()
      while Double(monotonicNanoseconds() - start) < delay * 1e9 {
        if queue.isEnded { return }
        usleep(50_000)
      }
      delay = min(2 * delay, 30)
    }
  }
}
