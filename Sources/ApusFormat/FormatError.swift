// SPDX-License-Identifier: Apache-2.0

/// Why bytes were refused: the place, what was found there and what was expected.
///
/// The message starts in lower case and has no full stop: `subgraph 0, tensor 12 (conv/weights): shape has 9
/// dimensions, at most 8`.
package struct FormatError: Error, Hashable, Sendable {
  /// The sentence to show to people.
  package let message: String

  /// The kind of a refusal.
  package enum Kind: Hashable, Sendable {
    /// The bytes are not what they should be.
    case malformed
    /// The file could not be read, whatever is in it.
    case unreadable
    /// There is more of something than a limit allows.
    case limit
  }

  /// The kind of the refusal.
  package let kind: Kind

  /// Whether a file could not be read, whatever is in it.
  package var isUnreadable: Bool { kind == .unreadable }

  /// Whether it refers to bytes behind the end: the file may be cut off.
  package let reachesOutside: Bool

  /// The part of the message before the colon.
  private let place: String
  /// The part of the message after the colon.
  private let finding: String

  /// Makes an error with a message and no place yet.
  package init(_ message: String) {
    self.init(place: "", finding: message, kind: .malformed)
  }

  /// Makes an error about bytes behind the end of a file, with no place yet.
  init(outside message: String) {
    self.init(place: "", finding: message, kind: .malformed, reachesOutside: true)
  }

  /// Makes an error about a file that cannot be read.
  init(unreadable message: String) { self.init(place: "", finding: message, kind: .unreadable) }

  /// Makes an error about an exceeded limit.
  init(limit message: String) { self.init(place: "", finding: message, kind: .limit) }

  private init(place: String, finding: String, kind: Kind, reachesOutside: Bool = false) {
    self.kind = kind
    self.reachesOutside = reachesOutside
    self.place = place
    self.finding = finding
    message = place.isEmpty ? finding : "\(place): \(finding)"
  }

  /// This error, seen from the enclosing place; a name in parentheses goes with the number before it.
  package func inside(_ outer: String) -> FormatError {
    let separator = place.isEmpty ? "" : place.hasPrefix("(") ? " " : ", "
    return FormatError(
      place: outer + separator + place, finding: finding, kind: kind, reachesOutside: reachesOutside)
  }
}

extension FormatError: CustomStringConvertible {
  /// The message.
  package var description: String { message }
}
