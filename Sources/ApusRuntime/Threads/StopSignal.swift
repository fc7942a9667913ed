// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

/// Ends a run early, even within long operators: on cancellation, or at a deadline.
///
/// Tiles check ``mustStop`` before they begin, see ``TileWork/mayStop``, and plain loops now and then, see
/// ``StopPoll``. The results they skip are never read: the code that started the run checks again before it
/// does anything else.
///
/// Reading the clock takes as long as a small operator, so it is read only during long work: see
/// ``watchClock()``.
@safe package final class StopSignal: @unchecked Sendable {
  // @unchecked: only the running thread changes the properties that are not atomic, while no other thread
  // works.

  private let flag = Atomic<Bool>(false)
  /// How long a run may take, in nanoseconds, from when the clock is first read.
  private var limit = Int.max
  /// On the clock of ``monotonicNanoseconds()``; `.max` until the clock is first read.
  private var deadline = Int.max
  /// Whether ``mustStop`` reads the clock.
  private var readsClock = false
  /// The signal of the caller, who keeps it alive. Not reference counted, because each step checks it.
  private var parent: Unmanaged<StopSignal>?

  /// Creates a signal that is not set and has no deadline.
  package init() {}

  /// Sets the signal; it stays set until the next ``begin(nanoseconds:parent:)``.
  package func set() { flag.store(true, ordering: .releasing) }

  /// Whether it was set, the deadline was found to have passed, or its parent is set.
  @inline(__always)
  package var isSet: Bool { flag.load(ordering: .acquiring) || isCancelled }

  /// Whether the parent is set, as opposed to the deadline having passed.
  @inline(__always)
  package var isCancelled: Bool {
    guard let parent = unsafe parent else { return false }
    return unsafe parent._withUnsafeGuaranteedRef { $0.flag.load(ordering: .acquiring) }
  }

  /// Whether ``isSet``; also reads the clock if there is a deadline and the clock is watched.
  package var mustStop: Bool {
    if isSet { return true }
    guard readsClock, monotonicNanoseconds() > deadline else { return false }
    set()
    return true
  }

  /// Begins a run with a time limit, or nil for none; a limit of 0 sets the signal. The clock is not watched
  /// yet. The parent has no parent itself, and lives until ``end()``.
  package func begin(nanoseconds: Int?, parent: StopSignal?) {
    unsafe self.parent = parent.map { unsafe .passUnretained($0) }
    limit = nanoseconds ?? .max
    flag.store(limit <= 0, ordering: .releasing)
    deadline = .max
    readsClock = false
  }

  /// Makes ``mustStop`` read the clock if there is a deadline. Time counts from the first such call of a run.
  package func watchClock() {
    guard limit != .max, !readsClock else { return }
    if deadline == .max {
      let (end, overflow) = monotonicNanoseconds().addingReportingOverflow(limit)
      deadline = overflow ? .max : end
    }
    readsClock = true
  }

  /// Makes ``mustStop`` ignore the clock: the following work is short.
  package func ignoreClock() { readsClock = false }

  /// Ends the run.
  package func end() { unsafe parent = nil }

  /// Whether anything can set the signal.
  package var isWatched: Bool { limit != .max || hasParent }

  /// Whether the run can be cancelled.
  package var hasParent: Bool { unsafe parent != nil }
}
