// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

/// What ends a run early, within long operators too: somebody who says so, or a deadline.
///
/// Tiles ask ``mustStop`` before they begin, see ``TileWork/mayStop``, and plain loops now and then, see ``StopPoll``. What they leave out is
/// never read: whoever started the run asks again before anything else happens.
///
/// The clock is read only where work is long, because reading it takes as long as a small operator: whoever runs says where, see
/// ``watchClock()``.
@safe package final class StopSignal: @unchecked Sendable {
  // @unchecked: what is not atomic changes while no other thread works, by the thread that runs.

  private let flag = Atomic<Bool>(false)
  /// How long a run may take, in nanoseconds, from when the clock is first read.
  private var limit = Int.max
  /// On the clock of ``monotonicNanoseconds()``; no limit until the clock was read.
  private var deadline = Int.max
  /// Whether ``mustStop`` reads the clock.
  private var readsClock = false
  /// The signal of whoever asked for the run, and keeps it: uncounted, as it is asked before each step.
  private var parent: Unmanaged<StopSignal>?

  /// Makes a signal that is not set and has no deadline.
  package init() {}

  /// Sets the signal; it stays set until the next ``begin(nanoseconds:parent:)``.
  package func set() { flag.store(true, ordering: .releasing) }

  /// Whether it was set, was found to be late, or its parent is set.
  @inline(__always)
  package var isSet: Bool { flag.load(ordering: .acquiring) || isCancelled }

  /// Whether the parent is set, rather than time being over.
  @inline(__always)
  package var isCancelled: Bool {
    guard let parent = unsafe parent else { return false }
    return unsafe parent._withUnsafeGuaranteedRef { $0.flag.load(ordering: .acquiring) }
  }

  /// As ``isSet``; looks at the clock if there is a deadline and the clock is watched.
  package var mustStop: Bool {
    if isSet { return true }
    guard readsClock, monotonicNanoseconds() > deadline else { return false }
    set()
    return true
  }

  /// Begins a run that may take so many nanoseconds; nil for any number. If there are none, the signal is set. The clock is not
  /// watched yet. The parent, which has no parent itself, lives until ``end()``.
  package func begin(nanoseconds: Int?, parent: StopSignal?) {
    unsafe self.parent = parent.map { unsafe .passUnretained($0) }
    limit = nanoseconds ?? .max
    flag.store(limit <= 0, ordering: .releasing)
    deadline = .max
    readsClock = false
  }

  /// From now on ``mustStop`` reads the clock if there is a deadline. Time counts from the first such call of a run.
  package func watchClock() {
    guard limit != .max, !readsClock else { return }
    if deadline == .max {
      let (end, overflow) = monotonicNanoseconds().addingReportingOverflow(limit)
      deadline = overflow ? .max : end
    }
    readsClock = true
  }

  /// From now on ``mustStop`` leaves the clock alone: what follows takes too little time.
  package func ignoreClock() { readsClock = false }

  /// Ends it.
  package func end() { unsafe parent = nil }

  /// Whether anything can set it.
  package var isWatched: Bool { limit != .max || hasParent }

  /// Whether somebody can cancel the run.
  package var hasParent: Bool { unsafe parent != nil }
}
