// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads `{…}` and `[…]` with what is in them: JSON, and the style of YAML that contains it.
struct LabelFlowParser {
  private static let maximumDepth = 64

  private let lines: [LabelParser.Line]
  /// Whether texts may have no quotes, as in YAML.
  private let allowsPlainText: Bool
  private(set) var lineIndex: Int
  private(set) var position: Int
  private var count = 0

  /// Starts in a line: at its first byte, or where `position` says.
  init(_ lines: [LabelParser.Line], at lineIndex: Int, position: Int? = nil, allowsPlainText: Bool) {
    self.lines = lines
    self.lineIndex = lineIndex
    self.position = position ?? (lines.indices.contains(lineIndex) ? lines[lineIndex].text.startIndex : 0)
    self.allowsPlainText = allowsPlainText
  }

  /// The one value of the text.
  mutating func document() throws(ApusError) -> LabelTree {
    let value = try value(depth: 0)
    guard peek() == nil else { throw failure("the end was expected") }
    return value
  }

  /// A text in quotes, the number of its line, and whether a comma follows it.
  typealias Item = (text: String, line: Int, hasComma: Bool)

  /// The next text in quotes; nil at the end.
  ///
  /// - Throws: `malformedLabels` if something else comes next.
  mutating func quotedItem() throws(ApusError) -> Item? {
    guard let first = peek() else { return nil }
    guard first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") else {
      throw failure("a text in quotes was expected")
    }
    let line = lines[lineIndex].number
    let text = try quoted(by: first)
    return (text, line, takes(UInt8(ascii: ",")))
  }

  /// The list that comes next, in whichever brackets, up to the end of the text or a semicolon.
  mutating func array() throws(ApusError) -> LabelTree {
    guard let first = peek() else { throw failure("a list was expected, but the text ends") }
    let line = lines[lineIndex].number
    let end =
      first == UInt8(ascii: "[")
      ? UInt8(ascii: "]") : first == UInt8(ascii: "(") ? UInt8(ascii: ")") : UInt8(ascii: "}")
    let values = LabelTree(line: line, .list(try list(until: end, 0)))
    _ = takes(UInt8(ascii: ";"))
    guard peek() == nil else { throw failure("the end was expected") }
    return values
  }

  /// The value that comes next.
  mutating func value(depth: Int) throws(ApusError) -> LabelTree {
    guard depth < Self.maximumDepth else { throw failure("values nest deeper than \(Self.maximumDepth)") }
    count += 1
    guard count <= 4 * LabelMap.maximumRowCount else { throw failure("there are too many values") }
    guard let first = peek() else { throw failure("a value was expected, but the text ends") }
    let line = lines[lineIndex].number
    switch first {
    case UInt8(ascii: "{"): return LabelTree(line: line, .map(try map(depth)))
    case UInt8(ascii: "["): return LabelTree(line: line, .list(try list(until: UInt8(ascii: "]"), depth)))
    case UInt8(ascii: "(") where !allowsPlainText:
      return LabelTree(line: line, .list(try list(until: UInt8(ascii: ")"), depth)))
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return LabelTree(line: line, .scalar(try quoted(by: first), isQuoted: true))
    default: return LabelTree(line: line, .scalar(try plain(), isQuoted: false))
    }
  }

  private mutating func map(_ depth: Int) throws(ApusError) -> [(key: LabelTree, value: LabelTree)] {
    position += 1
    var entries: [(LabelTree, LabelTree)] = []
    while !takes(UInt8(ascii: "}")) {
      let key = try value(depth: depth + 1)
      guard takes(UInt8(ascii: ":")) else { throw failure("':' was expected") }
      entries.append((key, try value(depth: depth + 1)))
      if takes(UInt8(ascii: "}")) { break }
      guard takes(UInt8(ascii: ",")) else { throw failure("',' or '}' was expected") }
    }
    return entries
  }

  private mutating func list(until end: UInt8, _ depth: Int) throws(ApusError) -> [LabelTree] {
    position += 1
    var values: [LabelTree] = []
    while !takes(end) {
      values.append(try value(depth: depth + 1))
      if takes(end) { break }
      guard takes(UInt8(ascii: ",")) else {
        throw failure("',' or '\(Unicode.Scalar(end))' was expected")
      }
    }
    return values
  }

  // MARK: Texts

  /// A text without quotes: in JSON a number or a constant.
  private mutating func plain() throws(ApusError) -> String {
    let text = lines[lineIndex].text
    let start = position
    while position < text.endIndex, !",]}".utf8.contains(text[position]) {
      let next = position + 1 < text.endIndex ? text[position + 1] : 0x20
      if text[position] == UInt8(ascii: ":"), !allowsPlainText || " \t,]}".utf8.contains(next) { break }
      if text[position] == UInt8(ascii: ")"), !allowsPlainText { break }
      if text[position] == UInt8(ascii: "#"), position > start, text[position - 1] == 0x20 { break }
      position += 1
    }
    let found = String(decoding: LabelParser.trimmed(text[start..<position]), as: UTF8.self)
    if found.isEmpty { throw failure("a value was expected") }
    guard allowsPlainText || Double(found) != nil || ["null", "None"].contains(found) else {
      position = start
      throw failure("'\(found.prefix(64))' is not a value; a text has quotes")
    }
    return found
  }

  /// A text in quotes, which ends on the line where it begins.
  mutating func quoted(by quote: UInt8) throws(ApusError) -> String {
    let text = lines[lineIndex].text
    var contents: [UInt8] = []
    position += 1
    while position < text.endIndex {
      let byte = text[position]
      let next = position + 1 < text.endIndex ? text[position + 1] : 0
      position += 1
      if byte == quote {
        // Two single quotes are one in YAML.
        guard quote == UInt8(ascii: "'"), next == quote else {
          return String(decoding: contents, as: UTF8.self)
        }
        contents.append(quote)
        position += 1
      } else if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") || !allowsPlainText {
        try LabelEscape.append(text, &position, to: &contents, line: lines[lineIndex].number)
      } else {
        contents.append(byte)
      }
    }
    throw failure("a text is not closed")
  }

  // MARK: Parts

  /// The next byte that is no space and not in a comment; nil at the end.
  private mutating func peek() -> UInt8? {
    while lineIndex < lines.count {
      let text = lines[lineIndex].text
      while position < text.endIndex, text[position] == 0x20 || text[position] == 0x09 { position += 1 }
      if position < text.endIndex, text[position] != UInt8(ascii: "#") { return text[position] }
      lineIndex += 1
      position = lineIndex < lines.count ? lines[lineIndex].text.startIndex : 0
    }
    return nil
  }

  /// Skips a character and the space before it, if it comes next.
  private mutating func takes(_ character: UInt8) -> Bool {
    guard peek() == character else { return false }
    position += 1
    return true
  }

  private func failure(_ message: String) -> ApusError {
    let line = lineIndex < lines.count ? lines[lineIndex].number : lines.last?.number ?? 1
    return ApusError(.malformedLabels, "line \(line): \(message)")
  }
}
