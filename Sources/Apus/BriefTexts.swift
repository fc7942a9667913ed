// SPDX-License-Identifier: Apache-2.0

// A file may have names and lists of any length. Messages and tables show their beginnings.

extension [Int] {
  /// The numbers for a message, the first few where there are many.
  var brief: String {
    count <= 16 ? "\(self)" : "[\(prefix(8).map(String.init).joined(separator: ", ")), … \(count) in all]"
  }
}

extension String {
  /// The text, or the beginning of one that is longer than any honest name.
  package var brief: String {
    utf8.count <= 1024 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(256))) + "…"
  }
}
