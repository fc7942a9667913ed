// SPDX-License-Identifier: Apache-2.0

/// What is worth a second thread, by how long work takes on one: decided from plans, never from how long runs took.
package enum ThreadPolicy {
  /// A run with less work than that is done by one thread, and wakes nobody.
  package static let leastRunNanoseconds = 40_000
  /// Work that takes less time is done by one thread: to hand over a part and to fetch the results takes about half of that
  /// where the other thread is awake.
  package static let leastNanoseconds = 1_200
  /// Work that takes less time wakes nobody, should the others have fallen asleep since the run began: to wake a thread costs
  /// some microseconds, and as many go by before it works.
  static let leastWakingNanoseconds = 15_000

  /// About how long an operator takes, which multiplies so often, and reads and writes so many elements.
  package static func nanoseconds(multiplyAccumulates: Int, elements: Int) -> Int {
    min(multiplyAccumulates, 1 << 60) >> 6 + min(elements, 1 << 60) >> 3
  }
}

extension ThreadTeam {
  /// The team for a run of about so long on one thread. Others are woken now, so that they work when they are needed.
  package func forRun(nanoseconds: @autoclosure () -> Int) -> ThreadTeam {
    guard count > 1 else { return self }
    guard nanoseconds() >= ThreadPolicy.leastRunNanoseconds else { return alone }
    ThreadPool.shared.wake(threads: count)
    return self
  }

  /// The team for work of about so long on one thread.
  package func fitting(nanoseconds: Int) -> ThreadTeam {
    guard count > 1 else { return self }
    guard nanoseconds >= ThreadPolicy.leastNanoseconds else { return alone }
    return waking(nanoseconds >= ThreadPolicy.leastWakingNanoseconds)
  }
}
