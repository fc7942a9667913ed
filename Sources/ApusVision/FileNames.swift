// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem

/// Names of files in bytes: systems allow any, but paths in Swift are Unicode.
package enum FileNames {
  /// The names in a folder that are not UTF-8, with escapes such as `caf\xE9.png`; empty for a folder that cannot be read.
  ///
  /// Files of such names cannot be opened by a path of ours.
  package static func outsideUTF8(inFolder path: String) -> [(name: String, isFolder: Bool)] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { _ = unsafe closedir(folder) }
    var found: [(name: String, isFolder: Bool)] = []
    while let entry = unsafe readdir(folder) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      guard String(validating: bytes, as: UTF8.self) == nil else { continue }
      found.append((printable(bytes), unsafe entry.pointee.d_type == UInt8(DT_DIR)))
    }
    return found
  }

  /// Bytes of a name as text: those that are not UTF-8 become escapes such as `\xE9`.
  package static func printable(_ bytes: [UInt8]) -> String {
    var text = ""
    var rest = bytes[...]
    while let first = rest.first {
      // A scalar has one to four bytes.
      let scalar = (1...min(4, rest.count)).lazy.compactMap { count in
        String(validating: rest.prefix(count), as: UTF8.self)
      }.first
      if let scalar {
        text += scalar
        rest = rest.dropFirst(scalar.utf8.count)
      } else {
        let digits = String(first, radix: 16, uppercase: true)
        text += "\\x" + (digits.count < 2 ? "0" : "") + digits
        rest = rest.dropFirst()
      }
    }
    return text
  }

  /// The command line's words that are not UTF-8, with escapes; empty where the system does not tell the bytes.
  package static var argumentsOutsideUTF8: [String] {
    // A word that is not UTF-8 has lost bytes on its way into Swift; a word may also have this character itself.
    guard CommandLine.arguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }),
      let bytes = try? readWholeFile(at: "/proc/self/cmdline", limit: 1 << 24)
    else { return [] }
    return bytes.split(separator: 0).map { Array($0) }.filter { String(validating: $0, as: UTF8.self) == nil }
      .map(printable)
  }

  /// An error for a file, a folder or a word whose name is not UTF-8.
  package static func error(_ name: String) -> ApusError {
    ApusError(
      .unreadableFile,
      "the name '\(name)' is not UTF-8, so the file cannot be opened: rename it, for example with 'convmv -f latin1 -t utf-8'"
    )
  }
}
