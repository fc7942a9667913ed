// SPDX-License-Identifier: Apache-2.0
/// Reads the grammar that JSON and Python's literals share, and what each adds.
struct LiteralParser {
  private static let maximumDepth = 64
  private static let maximumCount = 1 << 20

  private let bytes: [UInt8]
  private var position = 0
  private var count = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The one value of the text.
  mutating func document() throws(FormatError) -> Literal {
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw failure("the end was expected") }
    return value
  }

  private mutating func value(depth: Int) throws(FormatError) -> Literal {
    guard depth < Self.maximumDepth else { throw failure("values nest deeper than \(Self.maximumDepth)") }
    count += 1
    guard count <= Self.maximumCount else { throw failure("there are more than \(Self.maximumCount) values") }
    skipSpace()
    guard position < bytes.count else { throw failure("a value was expected, but the text ends") }
    switch bytes[position] {
    case UInt8(ascii: "{"): return try map(depth: depth)
    case UInt8(ascii: "["): return try list(until: UInt8(ascii: "]"), depth: depth)
    case UInt8(ascii: "("): return try list(until: UInt8(ascii: ")"), depth: depth)
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try number()
    default: return try constant()
    }
  }

  private mutating func map(depth: Int) throws(FormatError) -> Literal {
    position += 1
    var entries: [Literal.Entry] = []
    while !takes("}") {
      let key = try value(depth: depth + 1)
      guard takes(":") else { throw failure("':' was expected") }
      entries.append(Literal.Entry(key: key, value: try value(depth: depth + 1)))
      if takes("}") { break }
      guard takes(",") else { throw failure("',' or '}' was expected") }
    }
    return .map(entries)
  }

  private mutating func list(until end: UInt8, depth: Int) throws(FormatError) -> Literal {
    position += 1
    let end = Unicode.Scalar(end)
    var values: [Literal] = []
    while !takes(end) {
      values.append(try value(depth: depth + 1))
      if takes(end) { break }
      guard takes(",") else { throw failure("',' or '\(end)' was expected") }
    }
    return .list(values)
  }

  private mutating func number() throws(FormatError) -> Literal {
    let start = position
    while position < bytes.count, Self.isOfNumber(bytes[position]) { position += 1 }
    let digits = String(decoding: bytes[start..<position].filter { $0 != UInt8(ascii: "_") }, as: UTF8.self)
    guard let value = Double(digits) else { throw failure("'\(digits.prefix(32))' is not a number") }
    return .number(value)
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private mutating func constant() throws(FormatError) -> Literal {
    let start = position
    while position < bytes.count, Self.isLetter(bytes[position]) { position += 1 }
    let name = String(decoding: bytes[start..<position], as: UTF8.self)
    switch name {
    case "null", "None": return .null
    case "true", "True": return .bool(true)
    case "false", "False": return .bool(false)
    case "NaN", "nan": return .number(.nan)
    case "Infinity", "inf": return .number(.infinity)
    default:
      position = start
      throw failure(name.isEmpty ? "a value was expected" : "'\(name.prefix(32))' is not a literal")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  // MARK: Strings

  private mutating func text() throws(FormatError) -> String {
    let quote = bytes[position]
    position += 1
    var contents: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == quote { return String(decoding: contents, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        try escape(into: &contents)
      } else {
        contents.append(byte)
      }
    }
    throw failure("a string does not end")
  }

  private mutating func escape(into contents: inout [UInt8]) throws(FormatError) {
    guard position < bytes.count else { throw failure("a string does not end") }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "n"): contents.append(0x0A)
    case UInt8(ascii: "t"): contents.append(0x09)
    case UInt8(ascii: "r"): contents.append(0x0D)
    case UInt8(ascii: "b"): contents.append(0x08)
    case UInt8(ascii: "f"): contents.append(0x0C)
    case 0x0A: break
    case UInt8(ascii: "x"): append(try hexadecimal(digits: 2), to: &contents)
    case UInt8(ascii: "U"): append(try hexadecimal(digits: 8), to: &contents)
    case UInt8(ascii: "u"):
      var value = try hexadecimal(digits: 4)
      // Two halves of a surrogate pair are one character.
      if (0xD800..<0xDC00).contains(value), bytes[position...].starts(with: [0x5C, UInt8(ascii: "u")]) {
        position += 2
        let low = try hexadecimal(digits: 4)
        value = (0xDC00..<0xE000).contains(low) ? 0x1_0000 + (value - 0xD800) << 10 + low - 0xDC00 : 0xFFFD
      }
      append(value, to: &contents)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "/"): contents.append(byte)
    default: contents += [UInt8(ascii: "\\"), byte]
    }
  }

  private mutating func hexadecimal(digits: Int) throws(FormatError) -> UInt32 {
    let text = String(decoding: bytes[position...].prefix(digits), as: UTF8.self)
    guard text.utf8.count == digits,
      text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let value = UInt32(text, radix: 16)
    else { throw failure("an escape has no \(digits) hexadecimal digits") }
    position += digits
    return value
  }

  private func append(_ value: UInt32, to contents: inout [UInt8]) {
    contents += Array(String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
  }

  // MARK: Parts

  /// Skips a character and the space before it, if it comes next.
  private mutating func takes(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
  }

  private func failure(_ message: String) -> FormatError {
    FormatError("literal, byte \(position): \(message)")
  }
}
