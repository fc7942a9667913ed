// SPDX-License-Identifier: Apache-2.0
/// A value written as JSON or as a Python literal: what exporters of models append to their files.
package indirect enum Literal: Equatable, Sendable {
  /// `null` or `None`.
  case null
  /// `true`, `True` and their opposites.
  case bool(Bool)
  /// Any number; integers beyond 2⁵³ lose digits.
  case number(Double)
  /// A string in single or double quotes.
  case text(String)
  /// `[…]` or `(…)`.
  case list([Literal])
  /// `{…}`, in the order of the text.
  case map([Entry])

  /// A key with its value.
  package struct Entry: Equatable, Sendable {
    /// The key, of any kind in Python and a string in JSON.
    package let key: Literal
    /// The value.
    package let value: Literal
  }

  /// Parses text, without evaluating anything; comments and names other than the constants are refused.
  ///
  /// Throws if the text is not a literal, nests deeper than 64 levels, or has more than a million values.
  package init(parsing bytes: [UInt8]) throws(FormatError) {
    var parser = LiteralParser(bytes)
    self = try parser.document()
  }

  /// The value of a key of a map; nil for another kind of value and for a missing key.
  package subscript(key: String) -> Literal? {
    guard case .map(let entries) = self else { return nil }
    return entries.first { $0.key == .text(key) }?.value
  }

  /// The text; nil for another kind of value.
  package var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The truth; nil for another kind of value.
  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The whole number, also of a string of digits; nil for another kind of value.
  package var integer: Int? {
    switch self {
    case .number(let value): Int(exactly: value)
    case .text(let text): Int(text)
    default: nil
    }
  }

  /// The elements; nil for another kind of value.
  package var list: [Literal]? {
    if case .list(let values) = self { values } else { nil }
  }

  /// The entries; nil for another kind of value.
  package var entries: [Entry]? {
    if case .map(let entries) = self { entries } else { nil }
  }
}
