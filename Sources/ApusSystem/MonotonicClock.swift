// SPDX-License-Identifier: Apache-2.0

/// Nanoseconds of a clock that is never set.
package func monotonicNanoseconds() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
}

/// A moment of the clock of ``monotonicNanoseconds()``: `ContinuousClock` would link Swift's concurrency library and libdispatch into
/// every static program that only runs models.
package struct Moment: Comparable, Sendable {
  private let nanoseconds: Int

  package static var now: Moment { Moment(nanoseconds: monotonicNanoseconds()) }

  package static func < (lhs: Moment, rhs: Moment) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

  /// The moment some time later; at most the last one that an `Int` holds.
  package static func + (lhs: Moment, rhs: Duration) -> Moment {
    let (sum, overflow) = lhs.nanoseconds.addingReportingOverflow(rhs.wholeNanoseconds)
    return Moment(nanoseconds: overflow ? (rhs < .zero ? .min : .max) : sum)
  }

  /// The nanoseconds from now until this moment; negative if it has passed.
  package var nanosecondsLeft: Int {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(monotonicNanoseconds())
    return overflow ? (nanoseconds < 0 ? .min : .max) : difference
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded toward zero; at most what an `Int` holds.
  package var wholeNanoseconds: Int {
    let (seconds, attoseconds) = components
    let (nanoseconds, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, exceeds) = nanoseconds.addingReportingOverflow(Int(attoseconds / 1_000_000_000))
    return overflow || exceeds ? (seconds < 0 ? .min : .max) : sum
  }
}
