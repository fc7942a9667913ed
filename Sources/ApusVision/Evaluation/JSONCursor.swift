// SPDX-License-Identifier: Apache-2.0

import Apus

/// A position in a JSON text, from which values are read one after the other: large files become no tree of values.
///
/// Source: RFC 8259.
struct JSONCursor {
  private let bytes: [UInt8]
  private var position = 0

  /// How many lists and objects may be in each other.
  private static let maximumDepth = 512
  private static let longestNumber = 64

  /// Begins at the first value.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// An error about the current position.
  func refusal(_ text: String) -> ApusError { ApusError(.invalidData, "byte \(position): \(text)") }

  // MARK: Structure

  /// The first byte of the next value; nil at the end.
  mutating func peek() -> UInt8? {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    return position < bytes.count ? bytes[position] : nil
  }

  /// Checks that nothing follows the last value.
  mutating func end() throws(ApusError) {
    guard peek() == nil else { throw refusal("there is more text after the end of the JSON value") }
  }

  /// Reads an object: `body` reads the value of each member.
  mutating func forEachMember(
    _ body: (String, inout JSONCursor) throws(ApusError) -> Void
  ) throws(ApusError) {
    try open("{", "an object")
    if try close("}") { return }
    repeat {
      let key = try text()
      guard peek() == UInt8(ascii: ":") else {
        throw refusal("a colon was expected after '\(key.prefix(64))'")
      }
      position += 1
      try body(key, &self)
    } while try goesOn("}")
  }

  /// Reads a list: `body` reads each element.
  mutating func forEachElement(_ body: (inout JSONCursor) throws(ApusError) -> Void) throws(ApusError) {
    try open("[", "a list")
    if try close("]") { return }
    repeat { try body(&self) } while try goesOn("]")
  }

  private mutating func open(_ bracket: Character, _ what: String) throws(ApusError) {
    guard let next = peek() else { throw refusal("\(what) was expected, but the file ends") }
    guard next == bracket.asciiValue else { throw refusal("\(what) was expected, not \(found(next))") }
    position += 1
  }

  private mutating func close(_ bracket: Character) throws(ApusError) -> Bool {
    guard peek() == bracket.asciiValue else { return false }
    position += 1
    return true
  }

  /// Whether another entry follows.
  private mutating func goesOn(_ bracket: Character) throws(ApusError) -> Bool {
    if peek() == UInt8(ascii: ",") {
      position += 1
      return true
    }
    guard try close(bracket) else {
      throw refusal(
        peek().map { "',' or '\(bracket)' was expected, not \(found($0))" }
          ?? "'\(bracket)' was expected, but the file ends")
    }
    return false
  }

  private func found(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "a list"
    case UInt8(ascii: "\""): "a text"
    case UInt8(ascii: "-"), 0x30...0x39: "a number"
    case 0x21..<0x7F: "'\(Character(UnicodeScalar(byte)))'"
    default: "the byte \(byte)"
    }
  }

  // MARK: Values

  /// Reads a number.
  mutating func number() throws(ApusError) -> Double {
    guard let first = peek(), first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
      throw refusal(peek().map { "a number was expected, not \(found($0))" } ?? "a number was expected")
    }
    let start = position
    while position < bytes.count, position - start <= Self.longestNumber,
      (0x30...0x39).contains(bytes[position]) || "+-.eE".utf8.contains(bytes[position])
    {
      position += 1
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = Double(text), value.isFinite else {
      position = start
      throw refusal("'\(text)' is not a finite number")
    }
    return value
  }

  /// Reads a whole number.
  mutating func integer() throws(ApusError) -> Int {
    let start = position
    let value = try number()
    // Beyond, not every whole number is one of its own.
    guard abs(value) <= 0x1p53, let whole = Int(exactly: value) else {
      position = start
      throw refusal("a whole number was expected, not \(value)")
    }
    return whole
  }

  /// Reads a flag: 0 or 1, or false or true.
  mutating func flag() throws(ApusError) -> Bool {
    if try word("true") { return true }
    if try word("false") { return false }
    return try number() != 0
  }

  /// Whether the next value is null, which then is read.
  mutating func isNull() throws(ApusError) -> Bool { try word("null") }

  private mutating func word(_ word: String) throws(ApusError) -> Bool {
    guard peek() == word.utf8.first else { return false }
    guard bytes[position...].starts(with: word.utf8) else { throw refusal("'\(word)' was expected") }
    position += word.utf8.count
    return true
  }

  /// Reads a text.
  mutating func text() throws(ApusError) -> String {
    guard peek() == UInt8(ascii: "\"") else {
      throw refusal(peek().map { "a text was expected, not \(found($0))" } ?? "a text was expected")
    }
    position += 1
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\")
    {
      position += 1
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      position += 1
      return String(decoding: bytes[start..<position - 1], as: UTF8.self)
    }
    return try escapedText(from: start)
  }

  /// Reads the rest of a text that has escapes.
  private mutating func escapedText(from start: Int) throws(ApusError) -> String {
    var result = Array(bytes[start..<position])
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: result, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      guard position < bytes.count else { break }
      let escape = bytes[position]
      position += 1
      switch escape {
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(escape)
      case UInt8(ascii: "u"): result += String(try scalar()).utf8
      default: throw refusal("a text has an unknown escape")
      }
    }
    throw refusal("a text does not end")
  }

  /// Reads the digits of an escape, and the second half of a surrogate pair.
  private mutating func scalar() throws(ApusError) -> Unicode.Scalar {
    let first = try digits()
    guard (0xD800..<0xDC00).contains(first), bytes[position...].starts(with: [0x5C, 0x75]) else {
      return Unicode.Scalar(first) ?? "\u{FFFD}"
    }
    position += 2
    let second = try digits()
    guard (0xDC00..<0xE000).contains(second) else { return "\u{FFFD}" }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
  }

  private mutating func digits() throws(ApusError) -> UInt32 {
    guard bytes.count - position >= 4,
      let value = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw refusal("a text has an escape without four digits") }
    position += 4
    return value
  }

  /// Reads over a value of any kind.
  mutating func skip() throws(ApusError) {
    var depth = 0
    repeat {
      guard let next = peek() else { throw refusal("a value was expected, but the file ends") }
      switch next {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
        guard depth <= Self.maximumDepth else { throw refusal("lists and objects are nested too deeply") }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
        guard depth >= 0 else {
          throw refusal("a value was expected, not '\(Character(UnicodeScalar(next)))'")
        }
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard depth > 0 else { throw refusal("a value was expected, not \(found(next))") }
        position += 1
      case UInt8(ascii: "\""): _ = try text()
      case UInt8(ascii: "t"): _ = try word("true")
      case UInt8(ascii: "f"): _ = try word("false")
      case UInt8(ascii: "n"): _ = try word("null")
      // Numbers that Python's tools write, although JSON does not have them.
      case UInt8(ascii: "N") where bytes[position...].starts(with: "NaN".utf8): position += 3
      case UInt8(ascii: "I") where bytes[position...].starts(with: "Infinity".utf8): position += 8
      case UInt8(ascii: "-") where bytes[position...].starts(with: "-Infinity".utf8): position += 9
      default: _ = try number()
      }
    } while depth > 0
  }
}
