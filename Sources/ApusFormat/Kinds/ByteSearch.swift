// SPDX-License-Identifier: Apache-2.0

extension Collection<UInt8> {
  /// Whether a word is somewhere in these bytes, letter by letter.
  ///
  /// `String.contains` looks for words, too, but a static program that calls it has all of the standard library's regular expressions:
  /// more than a megabyte.
  func contains(word: String) -> Bool {
    indices.contains { self[$0...].starts(with: word.utf8) }
  }
}
