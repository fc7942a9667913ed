// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import Dispatch
import Synchronization

/// Interpreters of one model; each caller gets one for itself.
///
/// There are as many as there were concurrent callers; they share the model's weights. Together they take no more than the limit of
/// memory of one interpreter: callers wait rather than exceed it.
package final class InterpreterPool: Sendable {
  /// An interpreter with the bytes that it is counted with. The caller that takes it from the pool has the
  /// only reference, so it may change threads.
  private struct Pooled: @unchecked Sendable {
    let interpreter: Interpreter
    let batch: Int
    var byteCount: Int
  }

  private struct State {
    var idle: [Pooled]
    /// How many are lent or being made.
    var lentCount = 0
    /// The bytes of all, idle ones included.
    var byteCount: Int
    /// The bytes that an interpreter takes for each picture of its batch; nil until known.
    var byteCountOfPicture: Int?
    var waiting: [DispatchSemaphore] = []
  }

  /// The pool's reply to a caller.
  private enum Answer {
    case take(Pooled)
    case make(byteCount: Int)
    case wait(DispatchSemaphore)
  }

  private let model: Model
  private let options: Interpreter.Options
  /// The shape of the input for this many pictures.
  private let shape: @Sendable (Int) -> TensorShape
  /// The bytes that callers take beside the interpreter for each picture.
  private let extraByteCount: Int
  private let state: Mutex<State>

  /// Makes a pool with an interpreter for one picture, to which the caller keeps no reference.
  ///
  /// - Parameter extraByteCount: The bytes that a caller takes beside its interpreter for each picture, such
  ///   as copies of outputs.
  package init(
    _ interpreter: Interpreter, options: Interpreter.Options, extraByteCount: Int = 0,
    shape: @escaping @Sendable (_ batch: Int) -> TensorShape
  ) {
    model = interpreter.model
    self.options = options
    self.shape = shape
    self.extraByteCount = extraByteCount
    let own = interpreter.ownByteCount.map { $0 + extraByteCount }
    let first = Pooled(interpreter: interpreter, batch: 1, byteCount: own ?? options.memoryLimit)
    state = Mutex(State(idle: [first], byteCount: first.byteCount, byteCountOfPicture: own))
  }

  /// How many pictures an interpreter's memory has room for, at least one.
  var maximumPictures: Int {
    state.withLock { max(options.memoryLimit / max($0.byteCountOfPicture ?? options.memoryLimit, 1), 1) }
  }

  /// Lends an interpreter whose input takes this many pictures. What the model keeps between runs is as at first, so that no
  /// answer depends on those before it.
  ///
  /// - Throws: What making an interpreter throws; `cancelled` or `resourceLimit` if it would come too late.
  package func withInterpreter<R>(
    batch: Int = 1, cancellation: Cancellation?, _ body: (Interpreter) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let lent = try take(batch: batch, cancellation)
    defer { give(lent) }
    lent.interpreter.resetVariables()
    return try body(lent.interpreter)
  }

  private func take(batch: Int, _ cancellation: Cancellation?) throws(ApusError) -> Pooled {
    while true {
      switch state.withLock({ answer(batch: batch, &$0) }) {
      case .take(let pooled): return pooled
      case .wait(let semaphore): try wait(for: semaphore, cancellation)
      case .make(let byteCount):
        var options = options
        options.inputShapes[0] = shape(batch)
        do {
          return Pooled(
            interpreter: try Interpreter(model: model, options: options), batch: batch, byteCount: byteCount)
        } catch {
          state.withLock { release(byteCount, &$0) }
          throw error
        }
      }
    }
  }

  /// Waits until an interpreter may be free, or until it is too late. Cancelling ends the wait at once.
  private func wait(for semaphore: DispatchSemaphore, _ cancellation: Cancellation?) throws(ApusError) {
    let end = [options.deadline, cancellation?.deadline].compactMap { $0 }.min()
    let sleep = {
      guard let end else { return semaphore.wait() }
      // Beyond a minute, the caller asks again.
      let left = min(max(end.nanosecondsLeft, 0), 60_000_000_000)
      _ = semaphore.wait(timeout: .now() + .nanoseconds(left + 1))
    }
    if let cancellation {
      cancellation.withHandler({ semaphore.signal() }, sleep)
      if cancellation.isCancelled {
        throw ApusError(.cancelled, "cancelled while all memory for interpreters was in use")
      }
    } else {
      sleep()
    }
    if let deadline = options.deadline, Moment.now >= deadline {
      throw ApusError(.resourceLimit, "all memory for interpreters was in use until the deadline")
    }
  }

  private func answer(batch: Int, _ state: inout State) -> Answer {
    if let place = state.idle.lastIndex(where: { $0.batch == batch }) {
      state.lentCount += 1
      return .take(state.idle.remove(at: place))
    }
    let limit = options.memoryLimit
    let (product, overflow) = (state.byteCountOfPicture ?? limit).multipliedReportingOverflow(by: batch)
    let byteCount = overflow ? limit : min(product, limit)
    // Interpreters for other batch sizes make room.
    while byteCount > limit - state.byteCount, let other = state.idle.popLast() {
      state.byteCount -= other.byteCount
    }
    guard byteCount <= limit - state.byteCount || state.lentCount == 0 else {
      let semaphore = DispatchSemaphore(value: 0)
      state.waiting.append(semaphore)
      return .wait(semaphore)
    }
    state.lentCount += 1
    state.byteCount += byteCount
    return .make(byteCount: byteCount)
  }

  private func give(_ lent: Pooled) {
    // Before a run has succeeded, the memory may be unknown.
    let byteCount = lent.interpreter.ownByteCount.map { $0 + extraByteCount * lent.batch }
    state.withLock { state in
      release(lent.byteCount, &state)
      var returned = lent
      if let byteCount {
        let ofPicture = max(state.byteCountOfPicture ?? 0, (byteCount + lent.batch - 1) / lent.batch)
        state.byteCountOfPicture = ofPicture
        // Weights that are packed in several ways all count as shared.
        returned.byteCount = min(max(byteCount, ofPicture * lent.batch), options.memoryLimit)
      }
      state.idle.append(returned)
      state.byteCount += returned.byteCount
    }
  }

  /// Ends one caller's turn, and lets those that wait ask again.
  private func release(_ byteCount: Int, _ state: inout State) {
    state.lentCount -= 1
    state.byteCount -= byteCount
    for semaphore in state.waiting { semaphore.signal() }
    state.waiting.removeAll()
  }
}
