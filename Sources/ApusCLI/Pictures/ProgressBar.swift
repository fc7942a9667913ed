// SPDX-License-Identifier: Apache-2.0
import ApusConsole

/// A line on standard error that says how far work has come, how fast it goes, and when it will be done.
///
/// It appears after a second, on a terminal alone. The caller sees to it that one thread at a time uses it.
struct ProgressBar {
  private let total: Int
  private let isShown: Bool
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var last: ContinuousClock.Instant
  private var isOnScreen = false

  init(total: Int, isQuiet: Bool) {
    self.total = total
    isShown = !isQuiet && total > 1 && Output.isErrorTerminal
    start = clock.now
    last = start
  }

  /// Shows how many are done, at most ten times a second.
  mutating func update(_ done: Int) {
    let now = clock.now
    guard isShown, now - start > .seconds(1), now - last > .milliseconds(100) else { return }
    last = now
    let (seconds, attoseconds) = (now - start).components
    let elapsed = Double(seconds) + Double(attoseconds) / 1e18
    Output.showTransient(Self.line(done: done, total: total, elapsed: elapsed))
    isOnScreen = true
  }

  /// Takes the line away, before other output or at the end.
  mutating func clear() {
    guard isOnScreen else { return }
    Output.showTransient("")
    isOnScreen = false
  }

  /// For example `[######··············] 300/1000  37.1/s  0:19 left`.
  static func line(done: Int, total: Int, elapsed: Double) -> String {
    let width = 24
    let filled = total > 0 ? min(max(done * width / total, 0), width) : width
    let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: width - filled)
    let rate = elapsed > 0 ? Double(done) / elapsed : 0
    let left = rate > 0 ? Int((Double(total - done) / rate).rounded(.up)) : 0
    let seconds = left % 60
    return
      "[\(bar)] \(done)/\(total)  \(decimal(rate, 1))/s  \(left / 60):\(seconds < 10 ? "0" : "")\(seconds) left"
  }
}
