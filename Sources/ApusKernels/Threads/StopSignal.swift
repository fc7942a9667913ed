// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

/// What ends a run early, within long operators too: somebody who says so, or a deadline.
///
/// Tiles of products ask ``mustStop`` before they begin, see ``TileWork/mayStop``. What they leave out is never read: whoever
/// started the run asks again before anything else happens.
@safe package final class StopSignal: @unchecked Sendable {
  // @unchecked: what is not atomic changes between runs alone, by the thread that begins and ends them.

  private let flag = Atomic<Bool>(false)
  /// On the clock of ``monotonicNanoseconds()``.
  private var deadline = Int.max
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

  /// As ``isSet``; looks at the clock if there is a deadline.
  package var mustStop: Bool {
    if isSet { return true }
    guard deadline != .max, monotonicNanoseconds() > deadline else { return false }
    set()
    return true
  }

  /// Begins a run that may take so many nanoseconds; nil for any number. The parent, which has no parent itself, lives until
  /// ``end()``.
  package func begin(nanoseconds: Int?, parent: StopSignal?) {
    unsafe self.parent = parent.map { unsafe .passUnretained($0) }
    flag.store(false, ordering: .releasing)
    deadline = .max
    guard let nanoseconds else { return }
    let (end, overflow) = monotonicNanoseconds().addingReportingOverflow(max(nanoseconds, 0))
    if !overflow { deadline = end }
  }

  /// Ends it.
  package func end() { unsafe parent = nil }

  /// Whether anything can set it.
  package var isWatched: Bool { unsafe deadline != .max || parent != nil }
}
