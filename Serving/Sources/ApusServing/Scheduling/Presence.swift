// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether the client of a connection is still there.
public final class Presence: Sendable {
  private struct State {
    var isGone = false
    var next = 0
    var actions: [Int: @Sendable () -> Void] = [:]
  }
  private let state = Mutex(State())

  /// Makes the presence of a client that is there.
  public init() {}

  /// Says that the client went away.
  public func leave() {
    let actions = state.withLock { state in
      state.isGone = true
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action() }
  }

  /// Does something when the client goes away, or at once if it has.
  func whenGone(_ action: @escaping @Sendable () -> Void) -> Int? {
    let token = state.withLock { state -> Int? in
      guard !state.isGone else { return nil }
      state.next += 1
      state.actions[state.next] = action
      return state.next
    }
    if token == nil { action() }
    return token
  }

  func forget(_ token: Int) { state.withLock { _ = $0.actions.removeValue(forKey: token) } }
}
