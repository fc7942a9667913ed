// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Synchronization

/// The work that the server has accepted and not yet answered: the requests, the memory that they take, and
/// changes of models.
final class Admission: Sendable {
  private struct State {
    var requests = 0
    var bytes = 0
    /// The most bytes since ``usage()`` was asked.
    var highest = 0
    var changes = 0
    var isDraining = false
  }
  private let state = Mutex(State())
  private let maximumBytes: Int

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// Whether the server takes no new work.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// How many requests are not yet answered.
  var requestCount: Int { state.withLock { $0.requests } }

  /// Accepts a request; ``leave()`` must follow.
  func enter() throws(ServingError) {
    let isDraining = state.withLock { state in
      if !state.isDraining { state.requests += 1 }
      return state.isDraining
    }
    if isDraining { throw ServingError(.unavailable, "the server is shutting down") }
  }

  /// Says that an accepted request is answered.
  func leave() { state.withLock { $0.requests -= 1 } }

  /// Takes memory for a body or what follows from it; ``release(_:)`` must follow.
  func take(_ bytes: Int) throws(ServingError) {
    let fits = state.withLock { state in
      guard state.bytes + bytes <= maximumBytes else { return false }
      state.bytes += bytes
      state.highest = max(state.highest, state.bytes)
      return true
    }
    guard fits else {
      throw ServingError(
        .unavailable, "other requests take most of \(maximumBytes) bytes of memory: try again later")
    }
  }

  /// Gives back memory.
  func release(_ bytes: Int) { state.withLock { $0.bytes -= bytes } }

  /// The most bytes that were taken at a time since this was asked last, and those that are taken now.
  func usage() -> (highest: Int, now: Int) {
    state.withLock { state in
      defer { state.highest = state.bytes }
      return (state.highest, state.bytes)
    }
  }

  /// The maximum number of loads and unloads at a time: each has a thread, and all but one wait.
  private static let maximumChanges = 16

  /// Accepts a load or an unload; ``endChange()`` must follow.
  func beginChange() throws(ServingError) {
    let fits = state.withLock { state in
      guard state.changes < Self.maximumChanges else { return false }
      state.changes += 1
      return true
    }
    guard fits else {
      throw ServingError(
        .unavailable, "\(Self.maximumChanges) other loads and unloads wait: try again later")
    }
  }

  /// Says that a load or an unload has ended.
  func endChange() { state.withLock { $0.changes -= 1 } }

  /// Takes no new work from now on.
  func drain() { state.withLock { $0.isDraining = true } }
}
