// SPDX-License-Identifier: Apache-2.0

/// Checks for cancellation now and then in plain loops that may be long. Loops that end early leave results
/// that are never read, see ``StopSignal``.
@usableFromInline package struct StopPoll {
  private let threads: ThreadTeam
  @usableFromInline var stepsLeft = Self.interval

  /// The steps of plain code between two checks: some milliseconds.
  @inlinable static var interval: Int { 1 << 21 }

  /// Checks for a team.
  @usableFromInline package init(_ threads: ThreadTeam) {
    self.threads = threads
  }

  /// Counts the next steps, at least one; returns true if the run must end, and from then on.
  @inlinable @inline(__always)
  package mutating func mustStop(before steps: Int) -> Bool {
    stepsLeft &-= max(1, min(steps, Self.interval))
    return stepsLeft < 0 && asks()
  }

  /// Counts one of many short iterations by its index: a thousand at a time, of `steps` steps each. Returns
  /// true if the run must end.
  @inlinable @inline(__always)
  package mutating func mustStop(atTurn turn: Int, of count: Int, steps: Int) -> Bool {
    turn & 0x3FF == 0 && mustStop(before: min(count, 1 << 10) &* steps)
  }

  @usableFromInline @inline(never)
  mutating func asks() -> Bool {
    let stops = threads.mustStop
    // The loops around this one check as well.
    stepsLeft = stops ? 0 : Self.interval
    return stops
  }
}
