// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// The limits of the runs and preparations of one interpreter, and how much of them is left.
final class RunLimits {
  /// The signal that ends long work early.
  let signal = StopSignal()

  private let timeLimit: Int?
  private let deadline: Moment?
  private let runWorkLimit: Int
  private let loopLimit: Int
  /// Whether this run's deadline comes from its cancellation.
  private var endsByCancellation = false
  private var workLeft = 0
  /// The work of segments since the clock was last read.
  private var workSinceClock = 0
  private var iterationsLeft = 0

  /// Takes the limits from an interpreter's options.
  init(_ options: Interpreter.Options) {
    timeLimit = options.timeLimit.map { max(0, $0.wholeNanoseconds) }
    deadline = options.deadline
    runWorkLimit = options.runWorkLimit
    loopLimit = options.loopLimit
  }

  /// Begins a run or a preparation; nothing in it is known to be long yet.
  func begin(_ cancellation: Cancellation? = nil) {
    var limit = timeLimit
    endsByCancellation = false
    if let deadline { limit = min(deadline.nanosecondsLeft, limit ?? .max) }
    if let left = cancellation?.deadline?.nanosecondsLeft {
      endsByCancellation = left < limit ?? .max
      limit = min(left, limit ?? .max)
    }
    signal.begin(nanoseconds: limit, parent: cancellation?.signal)
    workLeft = runWorkLimit
    workSinceClock = 0
    iterationsLeft = loopLimit
  }

  /// Ends a run or a preparation.
  func end() { signal.end() }

  /// The signal for threads to check; nil if nothing can set it.
  var watchedSignal: StopSignal? { signal.isWatched ? signal : nil }

  /// Throws if the run was cancelled or exceeded its time limit. Threads read the clock from now on.
  func checkTime() throws(ApusError) {
    signal.watchClock()
    if signal.mustStop { throw reason }
  }

  /// Checks the time in every 256th iteration of a loop of preparation.
  func checkTime(at turn: Int) throws(ApusError) {
    if turn & 0xFF == 0xFF { try checkTime() }
  }

  /// The reason why the run ends early.
  var reason: ApusError {
    guard !signal.isCancelled, !endsByCancellation else {
      return ApusError(.cancelled, "the run was cancelled")
    }
    let seconds = Double(timeLimit ?? 0) / 1e9
    return ApusError(.resourceLimit, "the model takes longer than the limit of \(seconds) seconds")
  }

  /// Subtracts the work of a segment from the remaining work. Of many short segments, as in called subgraphs,
  /// some read the clock.
  @inline(__always)
  func charge(_ work: Int) throws(ApusError) {
    workLeft &-= work
    if workLeft < 0 {
      throw ApusError(.resourceLimit, "the run takes more steps than the limit of \(runWorkLimit)")
    }
    workSinceClock &+= min(work, Self.clockWork) &+ Self.segmentWork
    if workSinceClock > Self.clockWork {
      workSinceClock = 0
      if signal.isWatched { try checkTime() }
    }
  }

  /// The work after which the clock is read.
  static let clockWork = 1 << 22
  /// The overhead of a segment, as work.
  private static let segmentWork = 1 << 8

  /// Counts an iteration of a loop.
  func countIteration(_ place: String) throws(ApusError) {
    iterationsLeft &-= 1
    guard iterationsLeft >= 0 else {
      throw ApusError(
        .resourceLimit, "\(place): the loops of the run have more than \(loopLimit) iterations, the limit")
    }
    try checkTime()
  }
}
