// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Whether runs of a short model use several threads. The gain is small, and lost if processors
/// are far apart or busy. Both ways are tried now and then, and the faster one is kept.
///
/// A trial compares the medians of some runs with all threads and some with one. Its result is used for a number
/// of runs, which doubles whenever the next trial confirms it.
package struct SharingTrial {
  /// Runs that take longer, in nanoseconds, use all threads without a trial.
  private static let longRun = 1_000_000
  /// Runs that are measured each way, and runs before them for threads to wake up and caches to fill.
  private static let measured = 5
  private static let before = (shared: 5, alone: 2)
  private static let holds = 32...1024

  private var isOver: Bool
  /// The runs of this trial so far.
  private var count = 0
  /// The runs until the next trial, and how many they were at first.
  private var left = 0
  private var hold = Self.holds.lowerBound
  private var shares = true
  private var began = 0
  private var times = [Int](repeating: 0, count: Self.measured)
  private var sharedTime = 0

  /// Prepares for runs with up to this many threads.
  package init(threadCount: Int) { isOver = threadCount == 1 }

  private static let firstShared = before.shared
  private static let endShared = firstShared + measured
  private static let firstAlone = endShared + before.alone
  private static let endAlone = firstAlone + measured

  /// Begins a run, now or at a time in nanoseconds. Returns whether it uses all threads.
  package mutating func begin(at time: Int? = nil) -> Bool {
    guard !isOver, left == 0 else { return shares }
    began = time ?? monotonicNanoseconds()
    return count < Self.endShared
  }

  /// Ends it, now or at a time in nanoseconds.
  package mutating func end(at time: Int? = nil) {
    guard !isOver else { return }
    guard left == 0 else {
      left -= 1
      return
    }
    let time = (time ?? monotonicNanoseconds()) - began
    if count >= Self.firstShared, count < Self.endShared {
      add(time, at: count - Self.firstShared)
    } else if count >= Self.firstAlone {
      add(time, at: count - Self.firstAlone)
    }
    count += 1
    if count == Self.endShared {
      sharedTime = times[Self.measured / 2]
      isOver = sharedTime > Self.longRun
    } else if count == Self.endAlone {
      decide(aloneTime: times[Self.measured / 2])
    }
  }

  /// Uses all threads only if that is clearly faster.
  private mutating func decide(aloneTime: Int) {
    let isShared = sharedTime + sharedTime / 32 < aloneTime
    hold = isShared == shares ? min(2 * hold, Self.holds.upperBound) : Self.holds.lowerBound
    (shares, count, left) = (isShared, 0, hold)
  }

  /// Inserts a time into the sorted times before it.
  private mutating func add(_ time: Int, at index: Int) {
    var place = index
    while place > 0, times[place - 1] > time {
      times[place] = times[place - 1]
      place -= 1
    }
    times[place] = time
  }
}
