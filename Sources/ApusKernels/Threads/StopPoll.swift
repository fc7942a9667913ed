// SPDX-License-Identifier: Apache-2.0

/// Asks now and then, in plain loops that may be long, whether a run has to end. Loops that end early leave results that nobody
/// reads, see ``StopSignal``.
package struct StopPoll {
  private let threads: ThreadTeam
  private var stepsLeft = Self.interval

  /// Steps of plain code between two questions: some milliseconds.
  private static let interval = 1 << 21

  /// Asks for a team.
  package init(_ threads: ThreadTeam) {
    self.threads = threads
  }

  /// Counts steps that are about to be taken, or one where there are none; true where the run has to end, from then on.
  @inline(__always)
  package mutating func mustStop(before steps: Int) -> Bool {
    stepsLeft &-= max(1, min(steps, Self.interval))
    return stepsLeft < 0 && asks()
  }

  /// The same for one of many short turns of a loop, by its number: counts a thousand of them at a time, of so many `steps` each.
  @inline(__always)
  package mutating func mustStop(atTurn turn: Int, of count: Int, steps: Int) -> Bool {
    turn & 0x3FF == 0 && mustStop(before: min(count, 1 << 10) &* steps)
  }

  @inline(never)
  private mutating func asks() -> Bool {
    let stops = threads.mustStop
    // Loops around the one that ends ask as well.
    stepsLeft = stops ? 0 : Self.interval
    return stops
  }
}
