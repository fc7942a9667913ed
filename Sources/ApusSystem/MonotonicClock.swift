// SPDX-License-Identifier: Apache-2.0

/// Nanoseconds of a clock that is never set.
package func monotonicNanoseconds() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
}
