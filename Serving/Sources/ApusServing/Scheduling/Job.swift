// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// Work for a model, whose outcome a caller awaits. The outcome is set once: by the work, the deadline or cancellation.
final class Job: Sendable {
  /// The work of a job.
  enum Work: Sendable {
    /// A request for tensors.
    case tensors(InferenceRequest)
    /// A vision task on a picture.
    case picture(PictureTask)
  }

  /// The result of a job.
  enum Outcome: Sendable {
    case tensors(InferenceAnswer)
    case picture(PictureAnswer)
  }

  let model: ServedModel
  let work: Work
  let priority: Int
  /// When the request began to come in.
  let arrival: ContinuousClock.Instant
  /// When it was read as a whole, and could run.
  let readiness = ContinuousClock.now
  let deadline: ContinuousClock.Instant?

  typealias Waiting = CheckedContinuation<Result<Outcome, ServingError>, Never>

  private struct State {
    var continuation: Waiting?
    var early: Result<Outcome, ServingError>?
    var isDone = false
    var batch: RunningBatch?
  }
  private let state = Mutex(State())

  init(
    _ model: ServedModel, _ work: Work, priority: Int, arrival: ContinuousClock.Instant,
    deadline: ContinuousClock.Instant?
  ) {
    self.model = model
    self.work = work
    self.priority = priority
    self.arrival = arrival
    self.deadline = deadline
  }

  /// The items of the job in a batch.
  var items: Int {
    if case .tensors(let request) = work { request.batch } else { 1 }
  }

  /// Whether the job has its outcome, so that no caller waits for it any more.
  var isDone: Bool { state.withLock { $0.isDone } }

  /// Answers; the first answer counts.
  func finish(_ result: Result<Outcome, ServingError>) {
    let (continuation, batch) = state.withLock { state -> (Waiting?, RunningBatch?) in
      guard !state.isDone else { return (nil, nil) }
      state.isDone = true
      if state.continuation == nil { state.early = result }
      let continuation = state.continuation
      let batch = state.batch
      state.continuation = nil
      state.batch = nil
      return (continuation, batch)
    }
    if case .failure = result { batch?.abandonOne() }
    continuation?.resume(returning: result)
  }

  /// Waits for the answer.
  func wait(_ continuation: Waiting) {
    let early = state.withLock { state in
      if state.early == nil { state.continuation = continuation }
      return state.early
    }
    if let early { continuation.resume(returning: early) }
  }

  /// Records the batch in which the job runs; false if the job already has its outcome.
  func begin(in batch: RunningBatch) -> Bool {
    state.withLock { state in
      guard !state.isDone else { return false }
      state.batch = batch
      return true
    }
  }
}

/// Jobs that run together. Once all of them are abandoned, the run stops at its next operator.
final class RunningBatch: Sendable {
  let cancellation = Cancellation()
  private let waiting: Mutex<Int>

  init(count: Int) { waiting = Mutex(count) }

  func abandonOne() {
    let left = waiting.withLock { count in
      count -= 1
      return count
    }
    if left == 0 { cancellation.cancel() }
  }
}
