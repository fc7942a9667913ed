// SPDX-License-Identifier: Apache-2.0

/// The header of a `.npy` file: a dictionary as Python writes it, in any spelling that NumPy reads.
struct NumPyHeader {
  /// A value of the dictionary.
  enum Value: Equatable {
    case text(String)
    case flag(Bool)
    /// The items of a tuple of numbers as they are written.
    case tuple([String])
    /// A list, such as the fields of a structured type.
    case list
  }

  private var values: [String: Value] = [:]

  /// Reads a header up to the end of the dictionary, or to what is no part of one: keys that come later are missing.
  init(_ text: some StringProtocol) {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard reader.take("{") else { return }
    while let key = reader.text(), reader.take(":"), let value = reader.value() {
      values[key] = value
      guard reader.take(",") else { return }
    }
  }

  subscript(key: String) -> Value? { values[key] }

  /// The type in the form of an array interface, such as `<f4`, for one that is written as a name, such as `float32`.
  static func type(_ text: String) -> String {
    if text == "bool" { return "|b1" }
    for (name, kind) in [("float", "f"), ("int", "i"), ("uint", "u"), ("complex", "c")] {
      guard text.hasPrefix(name), let bits = Int(text.dropFirst(name.count)), bits > 0, bits.isMultiple(of: 8)
      else {
        continue
      }
      return "\(bits == 8 ? "|" : "<")\(kind)\(bits / 8)"
    }
    return text
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    private mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
      skipBlanks()
      guard let first = rest.first, first == UInt8(ascii: mark) else { return false }
      rest.removeFirst()
      return true
    }

    /// A text in quotes of either kind; nil for anything else.
    mutating func text() -> String? {
      for quote in ["'", "\""] as [Unicode.Scalar] where take(quote) {
        guard let end = rest.firstIndex(of: UInt8(ascii: quote)) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      return nil
    }

    mutating func value() -> Value? {
      if let text = text() { return .text(text) }
      if take("(") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ")")) else { return nil }
        var items = rest[..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
          String(decoding: $0.filter { ![0x20, 0x09].contains($0) }, as: UTF8.self)
        }
        rest = rest[(end + 1)...]
        // A comma may stand behind the last item.
        if items.last == "" { items.removeLast() }
        return .tuple(items)
      }
      if take("[") {
        // Nothing behind a structured type is of use.
        return .list
      }
      skipBlanks()
      for (name, flag) in [("True", true), ("False", false)] where rest.starts(with: name.utf8) {
        rest = rest.dropFirst(name.utf8.count)
        return .flag(flag)
      }
      return nil
    }
  }
}
