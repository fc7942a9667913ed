// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusSystem

/// Watches a run between its operators: for what ends it early, and for the profile.
final class RunObserver {
  /// Nanoseconds of each step of the last run; empty while no profile is wanted.
  private(set) var durations: [Int] = []

  /// When the step under way began.
  private var began = 0
  private let profiles: Bool
  private let limits: RunLimits

  /// Watches runs within limits.
  init(profiles: Bool, limits: RunLimits) {
    self.profiles = profiles
    self.limits = limits
  }

  /// Reserves room for `count` steps, so that a run allocates nothing.
  func reset(steps count: Int) {
    guard profiles else { return }
    if durations.count != count { durations = Array(repeating: 0, count: count) }
  }

  /// Whether anything can end the run early.
  var isWatched: Bool { limits.signal.isWatched }

  /// Whether somebody can cancel the run.
  var isCancellable: Bool { limits.signal.hasParent }

  /// Throws if the run was cancelled, or was found to be late.
  func checkSignal() throws(ApusError) {
    if limits.signal.isSet { throw limits.reason }
  }

  /// Looks at the clock as a step asks for it.
  func check(_ clock: SegmentPlan.ClockUse) throws(ApusError) {
    if clock != .ignored {
      try limits.checkTime()
    } else {
      try checkSignal()
    }
    if clock != .watched { limits.signal.ignoreClock() }
  }

  /// From now on, nobody looks at the clock until somebody checks the time.
  func ignoreClock() { limits.signal.ignoreClock() }

  /// Takes the work of a segment from what the run may do.
  func charge(_ work: Int) throws(ApusError) { try limits.charge(work) }

  /// Records when a step begins.
  func begin() {
    if profiles { began = monotonicNanoseconds() }
  }

  /// Records when a step ends.
  func end(step: Int) {
    guard profiles else { return }
    let nanoseconds = monotonicNanoseconds() &- began
    while durations.count <= step { durations.append(0) }
    durations[step] = nanoseconds
  }
}
