// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The observers of a store, and the last state they got.
final class StateObservers: Sendable {
  private struct Watched {
    var state: ModelStore.State
    var continuations: [Int: AsyncStream<ModelStore.State>.Continuation] = [:]
    var next = 0
  }

  private let watched: Mutex<Watched>

  init(_ state: ModelStore.State) { watched = Mutex(Watched(state: state)) }

  deinit {
    for continuation in watched.withLock({ Array($0.continuations.values) }) { continuation.finish() }
  }

  /// Sends a state to all observers.
  func send(_ state: ModelStore.State) {
    watched.withLock { watched in
      watched.state = state
      for continuation in watched.continuations.values { continuation.yield(state) }
    }
  }

  /// The last state and all later ones.
  func stream() -> AsyncStream<ModelStore.State> {
    let (stream, continuation) = AsyncStream<ModelStore.State>.makeStream()
    let number = watched.withLock { watched in
      continuation.yield(watched.state)
      watched.continuations[watched.next] = continuation
      watched.next += 1
      return watched.next - 1
    }
    continuation.onTermination = { [weak self] _ in
      self?.watched.withLock { _ = $0.continuations.removeValue(forKey: number) }
    }
    return stream
  }
}
