// SPDX-License-Identifier: Apache-2.0

/// Why bytes were refused: the place, what was found there and what was expected.
///
/// The message starts in lower case and has no full stop: `subgraph 0, tensor 12 (conv/weights): shape has 9
/// dimensions, at most 8`.
package struct FormatError: Error, Hashable, Sendable {
  /// The sentence to show to people.
  package let message: String

  /// Whether the reason is a file that cannot be read.
  package let isUnreadable: Bool

  /// The part of the message before the colon.
  private let place: String
  /// The part of the message after the colon.
  private let finding: String

  /// Makes an error with a message and no place yet.
  package init(_ message: String) {
    self.init(place: "", finding: message, isUnreadable: false)
  }

  /// The same, for a file that cannot be read.
  init(unreadable message: String) { self.init(place: "", finding: message, isUnreadable: true) }

  private init(place: String, finding: String, isUnreadable: Bool) {
    self.isUnreadable = isUnreadable
    self.place = place
    self.finding = finding
    message = place.isEmpty ? finding : "\(place): \(finding)"
  }

  /// The same error, seen from the enclosing place; a name in parentheses goes with the number before it.
  package func inside(_ outer: String) -> FormatError {
    let separator = place.isEmpty ? "" : place.hasPrefix("(") ? " " : ", "
    return FormatError(place: outer + separator + place, finding: finding, isUnreadable: isUnreadable)
  }
}

extension FormatError: CustomStringConvertible {
  /// The message.
  package var description: String { message }
}
