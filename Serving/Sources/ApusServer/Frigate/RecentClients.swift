// SPDX-License-Identifier: Apache-2.0

/// The records of Frigate's clients by their identities: of as many as fit, those that were heard last.
struct RecentClients {
  /// The record of a client.
  struct Client {
    /// The model that it asked for.
    var model: String?
    /// The range of the numbers in its frames, as far as they have shown it.
    var range: FrigateFrame.Range?
  }

  private let limit: Int
  private var clients: [[UInt8]: (client: Client, turn: Int)] = [:]
  /// How often a client was heard.
  private var turns = 0

  /// Makes an empty record of at most `limit` clients.
  init(limit: Int) { self.limit = limit }

  /// The record of a client, which counts as heard; of more clients than fit, the one that was silent for
  /// longest is forgotten.
  subscript(identity: [UInt8]) -> Client {
    mutating get {
      guard let known = clients[identity] else { return Client() }
      self[identity] = known.client
      return known.client
    }
    set {
      turns += 1
      clients[identity] = (newValue, turns)
      guard clients.count > limit, let oldest = clients.min(by: { $0.value.turn < $1.value.turn }) else {
        return
      }
      clients[oldest.key] = nil
    }
  }
}
