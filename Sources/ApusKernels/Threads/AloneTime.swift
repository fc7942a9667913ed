// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How long the owner of a pool has worked while other threads slept: what tells whether it pays to wake them.
///
/// Waking a thread costs its waker some microseconds, and as many go by before it works: for a few small operators among
/// others that need one thread that is a loss. Time alone adds up; other time takes half of itself away.
struct AloneTime {
  /// Some two times the cost of waking a thread, in nanoseconds.
  private static let limit = 15_000

  private var total = 0
  private var last = 0

  /// Whether threads should be woken; reads the clock.
  var isLong: Bool {
    mutating get {
      let now = monotonicNanoseconds()
      total &+= now &- last
      last = now
      return total > Self.limit
    }
  }

  /// Begins a time alone.
  mutating func begin() {
    let now = monotonicNanoseconds()
    total = max(0, total &- (now &- last) / 2)
    last = now
  }

  /// Adds time that work will take; whether it is long then.
  mutating func add(_ nanoseconds: Int) -> Bool {
    begin()
    (total, last) = (total &+ nanoseconds, last &+ nanoseconds)
    return total > Self.limit
  }

  /// Ends it with all work done.
  mutating func end() { _ = isLong }

  /// Ends it with the threads woken.
  mutating func endByWaking() { total = 0 }
}

/// Nanoseconds of a clock that is never set.
package func monotonicNanoseconds() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
}
