// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads `item { id: 1 name: 'x' display_name: "Person" }`, the protocol buffer text of label maps.
///
/// Other fields and nested messages are skipped, so that newer files are read too.
struct ProtobufTextParser {
  private enum Token: Equatable {
    case word(String)
    case text([UInt8])
    case symbol(UInt8)
  }

  /// Nesting beyond this is damage: label maps have two levels.
  private static let maximumDepth = 32

  private let lines: [LabelParser.Line]
  private var lineIndex = 0
  private var position: Int
  private var rows = LabelRows(statesRows: true)

  private init(_ lines: [LabelParser.Line]) {
    self.lines = lines
    position = lines.first?.text.startIndex ?? 0
  }

  /// Whether the first word is `item`, followed by a brace.
  static func looksLikeItems(_ lines: [LabelParser.Line]) -> Bool {
    var parser = ProtobufTextParser(lines)
    guard let first = try? parser.next(), first == .word("item") else { return false }
    var second = try? parser.next()
    if second == .symbol(UInt8(ascii: ":")) { second = try? parser.next() }
    return second == .symbol(UInt8(ascii: "{")) || second == .symbol(UInt8(ascii: "<"))
  }

  static func labels(in lines: [LabelParser.Line]) throws(ApusError) -> LabelRows {
    var parser = ProtobufTextParser(lines)
    while let token = try parser.next() {
      guard case .word(let word) = token else { throw parser.damage("a field name was expected") }
      if word == "item" {
        try parser.item()
      } else {
        try parser.skipValue(depth: 1)
      }
      parser.skipSeparator()
    }
    guard parser.rows.count > 0 else { throw parser.damage("there is no item with an id") }
    return parser.rows
  }

  private var lineNumber: Int {
    lineIndex < lines.count ? lines[lineIndex].number : lines.last?.number ?? 1
  }

  private func damage(_ message: String) -> ApusError {
    ApusError(.malformedLabels, "line \(lineNumber): \(message)")
  }

  private mutating func item() throws(ApusError) {
    let start = lineNumber
    let closing = try openMessage()
    var row: Int?
    var name: [UInt8]?
    var displayName: [UInt8]?
    while true {
      guard let token = try next() else { throw damage("the item of line \(start) is not closed") }
      if token == .symbol(closing) { break }
      guard case .word(let field) = token else { throw damage("a field name was expected") }
      switch field {
      case "id":
        try expectColon(after: field)
        guard case .word(let digits)? = try next(), let value = Self.integer(digits),
          value < LabelMap.maximumRowCount
        else { throw damage("an id from 0 to \(LabelMap.maximumRowCount - 1) was expected") }
        row = value
      case "name": name = try string(after: field)
      case "display_name": displayName = try string(after: field)
      default: try skipValue(depth: 2)
      }
      skipSeparator()
    }
    guard let row else { throw damage("the item of line \(start) has no id") }
    try rows.add((displayName ?? name).map { String(decoding: $0, as: UTF8.self) }, at: row, line: start)
  }

  /// An integer as the text format writes it: 31, 0x1F or 037.
  private static func integer(_ text: String) -> Int? {
    let digits = text.utf8.drop { $0 == UInt8(ascii: "0") }
    if digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X") {
      guard text.utf8.count == digits.count + 1 else { return nil }
      return unsigned(digits.dropFirst(), radix: 16)
    }
    return unsigned(
      text.utf8[...], radix: text.utf8.count > 1 && text.utf8.first == UInt8(ascii: "0") ? 8 : 10)
  }

  private static func unsigned(_ digits: Substring.UTF8View, radix: Int) -> Int? {
    guard let first = digits.first, Character(UnicodeScalar(first)).isHexDigit else { return nil }
    return Int(Substring(digits), radix: radix)
  }

  private mutating func openMessage() throws(ApusError) -> UInt8 {
    var token = try next()
    if token == .symbol(UInt8(ascii: ":")) { token = try next() }
    switch token {
    case .symbol(UInt8(ascii: "{"))?: return UInt8(ascii: "}")
    case .symbol(UInt8(ascii: "<"))?: return UInt8(ascii: ">")
    default: throw damage("'{' was expected after 'item'")
    }
  }

  private mutating func expectColon(after field: String) throws(ApusError) {
    guard try next() == .symbol(UInt8(ascii: ":")) else { throw damage("':' was expected after '\(field)'") }
  }

  /// A string value; strings next to each other are one.
  private mutating func string(after field: String) throws(ApusError) -> [UInt8] {
    try expectColon(after: field)
    guard case .text(var bytes)? = try next() else { throw damage("'\(field)' is not a quoted string") }
    while true {
      let mark = (lineIndex, position)
      guard case .text(let more)? = try next() else {
        (lineIndex, position) = mark
        return bytes
      }
      bytes += more
    }
  }

  private mutating func skipSeparator() {
    let mark = (lineIndex, position)
    if let token = try? next(), token == .symbol(UInt8(ascii: ",")) || token == .symbol(UInt8(ascii: ";")) {
      return
    }
    (lineIndex, position) = mark
  }

  /// Skips `: value`, a list or a nested message.
  private mutating func skipValue(depth: Int) throws(ApusError) {
    var token = try next()
    let hasColon = token == .symbol(UInt8(ascii: ":"))
    if hasColon { token = try next() }
    switch token {
    case .symbol(UInt8(ascii: "{"))?, .symbol(UInt8(ascii: "<"))?, .symbol(UInt8(ascii: "["))?:
      var open = depth
      let outside = depth - 1
      while true {
        guard open <= Self.maximumDepth else { throw damage("messages are nested too deeply") }
        guard let inner = try next() else { throw damage("a message is not closed") }
        guard case .symbol(let symbol) = inner else { continue }
        switch symbol {
        case UInt8(ascii: "{"), UInt8(ascii: "<"), UInt8(ascii: "["): open += 1
        case UInt8(ascii: "}"), UInt8(ascii: ">"), UInt8(ascii: "]"): open -= 1
        default: break
        }
        if open == outside { return }
      }
    case .word?, .text?:
      guard hasColon else { throw damage("':' was expected after a field name") }
    default: throw damage("a value was expected after a field name")
    }
  }

  /// The next token, or nil at the end.
  private mutating func next() throws(ApusError) -> Token? {
    while lineIndex < lines.count {
      let text = lines[lineIndex].text
      while position < text.endIndex, text[position] == 0x20 || text[position] == 0x09 { position += 1 }
      guard position < text.endIndex, text[position] != UInt8(ascii: "#") else {
        lineIndex += 1
        position = lineIndex < lines.count ? lines[lineIndex].text.startIndex : 0
        continue
      }
      let byte = text[position]
      if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { return .text(try quoted(text, by: byte)) }
      let start = position
      while position < text.endIndex, Self.isWordByte(text[position]) { position += 1 }
      if position > start { return .word(String(decoding: text[start..<position], as: UTF8.self)) }
      position += 1
      guard "{}<>[]:,;".utf8.contains(byte) else {
        throw damage("the character 0x\(String(byte, radix: 16, uppercase: true)) was not expected")
      }
      return .symbol(byte)
    }
    return nil
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  /// A quoted string on one line, with its escapes resolved.
  private mutating func quoted(_ text: ArraySlice<UInt8>, by quote: UInt8) throws(ApusError) -> [UInt8] {
    var result: [UInt8] = []
    position += 1
    while position < text.endIndex {
      let byte = text[position]
      position += 1
      if byte == quote { return result }
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      try LabelEscape.append(text, &position, to: &result, line: lines[lineIndex].number)
    }
    throw damage("a string is not closed")
  }
}
