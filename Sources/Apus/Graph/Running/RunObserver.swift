// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// Watches a run between its operators, to end it early and for the profile.
final class RunObserver {
  /// Nanoseconds of each step of the last run; empty without a profile.
  private(set) var durations: [Int] = []

  /// The time at which the current step began.
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

  /// Whether the run can be cancelled.
  var isCancellable: Bool { limits.signal.hasParent }

  /// Throws if the run was cancelled, or was found to exceed its time limit.
  func checkSignal() throws(ApusError) {
    if limits.signal.isSet { throw limits.reason }
  }

  /// Checks the time if a step asks for it.
  func check(_ clock: SegmentPlan.ClockUse) throws(ApusError) {
    if clock != .ignored {
      try limits.checkTime()
    } else {
      try checkSignal()
    }
    if clock != .watched { limits.signal.ignoreClock() }
  }

  /// Ignores the clock until the next check of the time.
  func ignoreClock() { limits.signal.ignoreClock() }

  /// Subtracts the work of a segment from the run's remaining work.
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
