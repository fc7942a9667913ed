// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Work that is done once for all who want its result at the same time. It is cancelled when the last of them is.
final class SharedWork<Value: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Value, any Error>

  private struct Flight {
    let number: Int
    let task: Task<Void, Never>
    var waiters: [Int: Waiter]
  }

  private struct State {
    var flights: [String: Flight] = [:]
    /// The callers that were cancelled before they began to wait.
    var left: Set<Int> = []
    var count = 0

    mutating func number() -> Int {
      count += 1
      return count
    }
  }

  private let state = Mutex(State())

  /// The result of the work of a name that is under way, or else of `work`.
  ///
  /// - Throws: What the work throws; `CancellationError` at once if the caller's task is cancelled, whatever the others do.
  func value(for name: String, of work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let caller = state.withLock { $0.number() }
    defer { state.withLock { _ = $0.left.remove(caller) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { join(name, caller, $0, work) }
    } onCancel: {
      leave(name, caller)
    }
  }

  private func join(
    _ name: String, _ caller: Int, _ waiter: Waiter, _ work: @escaping @Sendable () async throws -> Value
  ) {
    let waits = state.withLock { state in
      if state.left.contains(caller) { return false }
      if state.flights[name] != nil {
        state.flights[name]?.waiters[caller] = waiter
        return true
      }
      let number = state.number()
      let task = Task.detached {
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        self.finish(name, number, result)
      }
      state.flights[name] = Flight(number: number, task: task, waiters: [caller: waiter])
      return true
    }
    if !waits { waiter.resume(throwing: CancellationError()) }
  }

  private func leave(_ name: String, _ caller: Int) {
    let (waiter, unwanted) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
      guard let waiter = state.flights[name]?.waiters.removeValue(forKey: caller) else {
        state.left.insert(caller)
        return (nil, nil)
      }
      guard let flight = state.flights[name], flight.waiters.isEmpty else { return (waiter, nil) }
      state.flights[name] = nil
      return (waiter, flight.task)
    }
    unwanted?.cancel()
    waiter?.resume(throwing: CancellationError())
  }

  private func finish(_ name: String, _ number: Int, _ result: Result<Value, any Error>) {
    let waiters = state.withLock { state -> [Waiter] in
      guard let flight = state.flights[name], flight.number == number else { return [] }
      state.flights[name] = nil
      return Array(flight.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
