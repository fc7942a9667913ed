// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import NIOCore
import Synchronization

/// The memory of one call's messages on their way: each byte counts from its arrival until the call takes the message.
///
/// The library keeps what has come of a message, and whole messages until the call asks for them. Requests that were taken count by
/// themselves, see ``AdmittedRequest``.
final class IncomingMessages: Sendable {
  private struct State {
    /// The bytes of the message that is coming.
    var arriving = 0
    /// The bytes of each whole message that the call has not taken, the oldest first.
    var waiting = CircularBuffer<Int>()
    /// Whether the call is over.
    var isEnded = false
  }

  /// The bytes that the library's queue takes for a message, however short it is.
  private static let queueCost = 256

  /// The call's number as text.
  let name: String
  private let admission: Admission
  private let state = Mutex(State())

  init(name: String, _ admission: Admission) {
    self.name = name
    self.admission = admission
  }

  deinit { end() }

  /// Counts more bytes of a message.
  ///
  /// - Throws: `unavailable` if others hold too much.
  func take(_ bytes: Int) throws(ServingError) {
    guard bytes > 0, state.withLock({ !$0.isEnded }) else { return }
    try admission.take(bytes)
    state.withLock { $0.arriving += bytes }
  }

  /// Says that a message is whole.
  ///
  /// - Parameters:
  ///   - counted: The bytes that were taken for it.
  ///   - bytes: The bytes that the call takes.
  /// - Throws: `unavailable` if others hold too much.
  func endMessage(of counted: Int, as bytes: Int) throws(ServingError) {
    let (kept, missing) = (bytes + Self.queueCost, bytes + Self.queueCost - counted)
    try take(missing)
    let left = state.withLock { state -> Int in
      guard !state.isEnded else { return 0 }
      let counted = max(counted, kept)
      state.arriving -= counted
      state.waiting.append(kept)
      return counted - kept
    }
    admission.release(left)
  }

  /// Says that the call has taken its oldest message.
  func removeFirst() {
    if let bytes = state.withLock({ $0.waiting.popFirst() }) { admission.release(bytes) }
  }

  /// Gives everything back: the call is over.
  func end() {
    let bytes = state.withLock { state -> Int in
      defer { state = State(isEnded: true) }
      return state.waiting.reduce(state.arriving, +)
    }
    admission.release(bytes)
  }
}

/// The calls of gRPC whose messages are counted, by the number that each call's metadata has: what handles a call knows its stream by
/// that alone.
final class OpenCalls: Sendable {
  /// The name in the metadata. What a client says under this name is replaced.
  static let header = "apus-call"

  /// The memory of all requests.
  let admission: Admission
  private let state = Mutex<(next: Int, calls: [String: IncomingMessages])>((0, [:]))

  init(_ admission: Admission) { self.admission = admission }

  /// Counts the messages of one more call; ``close(_:)`` must follow.
  func open() -> IncomingMessages {
    state.withLock { state -> IncomingMessages in
      state.next += 1
      let messages = IncomingMessages(name: String(state.next), admission)
      state.calls[messages.name] = messages
      return messages
    }
  }

  /// Ends the count of a call.
  func close(_ messages: IncomingMessages) {
    state.withLock { _ = $0.calls.removeValue(forKey: messages.name) }
    messages.end()
  }

  /// The messages of a call by its metadata; nil if the call is over.
  func messages(of metadata: Metadata) -> IncomingMessages? {
    guard let name = metadata[stringValues: Self.header].first(where: { _ in true }) else { return nil }
    return state.withLock { $0.calls[name] }
  }
}
