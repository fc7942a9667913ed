// SPDX-License-Identifier: Apache-2.0

/// Watches a run between its operators: for cancellation, and for the profile.
final class RunObserver {
  /// The caller's flag, if any.
  var cancellation: Cancellation?
  /// Nanoseconds of each step of the last run; empty while no profile is wanted.
  private(set) var durations: [Int] = []

  private var began = ContinuousClock.now
  private let profiles: Bool

  init(profiles: Bool) {
    self.profiles = profiles
  }

  /// Reserves room for `count` steps, so that a run allocates nothing.
  func reset(steps count: Int) {
    guard profiles else { return }
    if durations.count != count { durations = Array(repeating: 0, count: count) }
  }

  /// Throws if the run was cancelled.
  func checkCancellation() throws(ApusError) {
    if let cancellation, cancellation.isCancelled {
      throw ApusError(.cancelled, "the run was cancelled")
    }
  }

  /// Records when a step begins.
  func begin() {
    if profiles { began = .now }
  }

  /// Records when a step ends.
  func end(step: Int) {
    guard profiles else { return }
    let duration = (ContinuousClock.now - began).components
    let nanoseconds = Int(duration.seconds) * 1_000_000_000 + Int(duration.attoseconds / 1_000_000_000)
    while durations.count <= step { durations.append(0) }
    durations[step] = nanoseconds
  }
}
