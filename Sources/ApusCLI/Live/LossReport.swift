// SPDX-License-Identifier: Apache-2.0
import ApusConsole
import ApusVideo
import Synchronization

/// Says on standard error when a live source is lost, and when it is back: its results have a gap.
final class LossReport: Sendable {
  private let name: String
  private let beginning = Mutex<ContinuousClock.Instant?>(nil)

  /// - Parameter name: The source's name for people.
  init(of name: String) { self.name = name }

  /// Writes a line.
  func write(_ interruption: VideoSource.Interruption) {
    switch interruption {
    case .began(let reason):
      beginning.withLock { $0 = .now }
      Output.writeError("warning: \(oneLine(reason)); trying again")
    case .ended:
      let seconds = beginning.withLock { $0.map { (.now - $0) / .seconds(1) } ?? 0 }
      Output.writeError("warning: '\(oneLine(name))' is back after \(decimal(seconds, 1)) s")
    }
  }
}
