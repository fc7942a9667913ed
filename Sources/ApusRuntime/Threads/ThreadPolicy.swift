// SPDX-License-Identifier: Apache-2.0

/// The thresholds for using a second thread, by the estimated time on one: from plans, never from measured
/// runs.
package enum ThreadPolicy {
  /// A run with less work uses one thread and wakes no other.
  package static let minimumRunNanoseconds = 40_000
  /// Work that takes less time uses one thread: with the other thread awake, handing over a part and fetching
  /// its results takes about half of that.
  package static let minimumNanoseconds = 1_200
  /// Work that takes less time does not wake threads that fell asleep since the run began: waking one costs
  /// some microseconds, and it takes as long until it works.
  static let minimumWakingNanoseconds = 15_000

  /// The estimated time of an operator with these multiply-accumulates and elements read and written.
  package static func nanoseconds(multiplyAccumulates: Int, elements: Int) -> Int {
    min(multiplyAccumulates, 1 << 60) >> 6 + min(elements, 1 << 60) >> 3
  }
}

extension ThreadTeam {
  /// The team for a run of about this duration on one thread. Wakes other threads now, so that they are ready
  /// when they are needed.
  package func forRun(nanoseconds: @autoclosure () -> Int) -> ThreadTeam {
    guard count > 1 else { return self }
    guard nanoseconds() >= ThreadPolicy.minimumRunNanoseconds else { return alone }
    ThreadPool.shared.wake(threads: count)
    return self
  }

  /// The team for work of about this duration on one thread.
  package func fitting(nanoseconds: Int) -> ThreadTeam {
    guard count > 1 else { return self }
    guard nanoseconds >= ThreadPolicy.minimumNanoseconds else { return alone }
    return waking(nanoseconds >= ThreadPolicy.minimumWakingNanoseconds)
  }
}
