// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Tells all who watch whether the server is ready when that changes: it is looked at once for all of them.
final class ReadinessWatch: Sendable {
  private struct State {
    var nextWatcher = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    var isLooking = false
  }

  /// How often it is looked at.
  private static let interval = Duration.milliseconds(200)

  private let server: ServerState
  private let state = Mutex(State())

  init(_ server: ServerState) { self.server = server }

  /// Begins to watch: the stream has an element at once, and after each change. ``remove(_:)`` must follow.
  func add() -> (watcher: Int, changes: AsyncStream<Void>, end: @Sendable () -> Void) {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    let (watcher, begins) = state.withLock { state -> (Int, Bool) in
      state.nextWatcher += 1
      state.watchers[state.nextWatcher] = continuation
      defer { state.isLooking = true }
      return (state.nextWatcher, !state.isLooking)
    }
    if begins { Task { await look() } }
    return (watcher, changes, { continuation.finish() })
  }

  /// Ends a watch.
  func remove(_ watcher: Int) {
    state.withLock { $0.watchers.removeValue(forKey: watcher) }?.finish()
  }

  /// Looks for changes as long as there are watchers.
  private func look() async {
    var last = [server.isReady, server.admission.isDraining]
    while true {
      // Sleeping ends early only with the process.
      try? await Task.sleep(for: Self.interval)
      let now = [server.isReady, server.admission.isDraining]
      let watchers = state.withLock { state -> [AsyncStream<Void>.Continuation]? in
        if state.watchers.isEmpty {
          state.isLooking = false
          return nil
        }
        return now == last ? [] : Array(state.watchers.values)
      }
      guard let watchers else { return }
      for watcher in watchers { watcher.yield() }
      last = now
    }
  }
}
