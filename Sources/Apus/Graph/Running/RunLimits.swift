// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// What the runs and preparations of one interpreter may take, and how much of it is left.
final class RunLimits {
  /// What ends long work early.
  let signal = StopSignal()

  private let timeLimit: Int?
  private let deadline: ContinuousClock.Instant?
  private let runWorkLimit: Int
  private let loopLimit: Int
  /// Whether the deadline of this run is its cancellation's own.
  private var endsByCancellation = false
  private var workLeft = 0
  /// Work of segments that did not look at the clock, since somebody did.
  private var workSinceClock = 0
  private var iterationsLeft = 0

  /// Takes the limits from an interpreter's options.
  init(_ options: Interpreter.Options) {
    timeLimit = options.timeLimit.map(Self.nanoseconds)
    deadline = options.deadline
    runWorkLimit = options.runWorkLimit
    loopLimit = options.loopLimit
  }

  private static func nanoseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? 0 : .max) : nanoseconds &+ Int(attoseconds / 1_000_000_000)
  }

  /// Begins a run, or a preparation, of which nothing is known to be long yet.
  func begin(_ cancellation: Cancellation? = nil) {
    var limit = timeLimit
    endsByCancellation = false
    if let deadline {
      limit = min(Self.nanoseconds(ContinuousClock.now.duration(to: deadline)), limit ?? .max)
    }
    if let deadline = cancellation?.deadline {
      let left = Self.nanoseconds(ContinuousClock.now.duration(to: deadline))
      endsByCancellation = left < limit ?? .max
      limit = min(left, limit ?? .max)
    }
    signal.begin(nanoseconds: limit, parent: cancellation?.signal)
    workLeft = runWorkLimit
    workSinceClock = 0
    iterationsLeft = loopLimit
  }

  /// Ends it.
  func end() { signal.end() }

  /// The signal for threads to look at; nil where nothing can set it.
  var watchedSignal: StopSignal? { signal.isWatched ? signal : nil }

  /// Throws if the run was cancelled or takes too long. Until told otherwise, threads look at the clock from now on.
  func checkTime() throws(ApusError) {
    signal.watchClock()
    if signal.mustStop { throw reason }
  }

  /// The same in a loop of preparation, by the number of the turn: at every 256th.
  func checkTime(at turn: Int) throws(ApusError) {
    if turn & 0xFF == 0xFF { try checkTime() }
  }

  /// Why the run ends early.
  var reason: ApusError {
    guard !signal.isCancelled, !endsByCancellation else {
      return ApusError(.cancelled, "the run was cancelled")
    }
    let seconds = Double(timeLimit ?? 0) / 1e9
    return ApusError(.resourceLimit, "the model takes longer than the limit of \(seconds) seconds")
  }

  /// Takes the work of a segment from what is left of it. Of many short segments, as of subgraphs that are called, some look at the
  /// clock.
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

  /// Work after which somebody looks at the clock.
  static let clockWork = 1 << 22
  /// What a segment takes beside its own work.
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
