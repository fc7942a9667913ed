// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads the text forms of a label file.
enum LabelParser {
  /// The content of a label file.
  enum Reading {
    case rows(LabelRows)
    /// The rows depend on the model's number of classes.
    case numbering(LabelNumbering)
  }

  /// One line: its bytes without spaces around them, and its number from 1.
  struct Line {
    let number: Int
    /// How many spaces and tabs come first.
    let indent: Int
    let text: ArraySlice<UInt8>

    var isEmpty: Bool { text.isEmpty }
    var isComment: Bool { text.first == UInt8(ascii: "#") }
  }

  static func parse(_ bytes: [UInt8], format: LabelMap.Format) throws(ApusError) -> Reading {
    guard bytes.count <= LabelMap.maximumFileSize else {
      throw ApusError(
        .resourceLimit, "\(bytes.count) bytes of labels are beyond the limit of \(LabelMap.maximumFileSize)")
    }
    let lines = try split(utf8(bytes))
    guard !lines.isEmpty else { throw ApusError(.malformedLabels, "line 1: there are no labels") }
    switch format {
    case .lines: return .rows(try plain(lines))
    case .numberedLines: return .rows(try numbered(lines).rows)
    case .protobufText: return .rows(try ProtobufTextParser.labels(in: lines))
    case .json: return .rows(try LabelTree(json: lines).rows())
    case .yaml: return .rows(try LabelTree(yaml: lines).rows())
    case .csv:
      guard let table = try LabelTable(lines) else { return try byLines(lines) }
      return .rows(table.rows)
    case .automatic: return try automatic(lines)
    }
  }

  private static func automatic(_ lines: [Line]) throws(ApusError) -> Reading {
    if ProtobufTextParser.looksLikeItems(lines) { return .rows(try ProtobufTextParser.labels(in: lines)) }
    if LabelTree.looksLikeJSON(lines) { return .rows(try LabelTree(json: lines).rows()) }
    if LabelTree.looksLikeYAML(lines) { return .rows(try LabelTree(yaml: lines).rows()) }
    if LabelTable.looksLikeHeader(lines), let table = try LabelTable(lines) { return .rows(table.rows) }
    if let rows = try QuotedLabels.assigned(lines) { return .rows(rows) }
    return try byLines(lines)
  }

  /// Lines with or without numbers.
  private static func byLines(_ lines: [Line]) throws(ApusError) -> Reading {
    if let rows = try QuotedLabels.rows(of: lines) { return .rows(rows) }
    let lines = QuotedLabels.withoutSeparators(lines)
    if let rows = numberedBehind(lines) { return .rows(rows) }
    let content = lines.first { !$0.isEmpty && !$0.isComment }
    guard let first = content.flatMap(numberedParts) else { return .rows(try plain(lines)) }
    if first.isUnmistakable {
      let (found, rows) = try numbered(lines)
      // Amounts and times have the same separators: "20: DH", "50: DH".
      let isConsecutive = Set(rows) == Set(0..<rows.count) || Set(rows) == Set(1...max(rows.count, 1))
      return .rows(isConsecutive || LabelNumbering.differ(found) ? found : try plain(lines))
    }
    guard let (found, rows) = try? numbered(lines),
      let numbering = LabelNumbering(rows, numbered: found, plain: try plain(lines))
    else { return .rows(try plain(lines)) }
    return .numbering(numbering)
  }

  /// The bytes as UTF-8: UTF-16 is recognized by its mark, or by every other byte of the first letters.
  private static func utf8(_ bytes: [UInt8]) throws(ApusError) -> ArraySlice<UInt8> {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return bytes[3...] }
    var content = bytes[...]
    let isLittleEndian: Bool
    if bytes.starts(with: [0xFF, 0xFE]) {
      (isLittleEndian, content) = (true, bytes[2...])
    } else if bytes.starts(with: [0xFE, 0xFF]) {
      (isLittleEndian, content) = (false, bytes[2...])
    } else if bytes.count >= 4, (bytes[0] == 0) != (bytes[1] == 0), (bytes[2] == 0) == (bytes[0] == 0),
      (bytes[3] == 0) == (bytes[1] == 0)
    {
      isLittleEndian = bytes[1] == 0
    } else {
      return content
    }
    guard content.count.isMultiple(of: 2) else {
      throw ApusError(.malformedLabels, "line 1: the text is UTF-16, but has \(content.count) bytes")
    }
    let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map { index in
      let (one, other) = (UInt16(content[index]), UInt16(content[index + 1]))
      return isLittleEndian ? one | other << 8 : one << 8 | other
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)[...]
  }

  /// The lines, trimmed, without blank ones at the end. A control character means that this is not text.
  private static func split(_ bytes: ArraySlice<UInt8>) throws(ApusError) -> [Line] {
    var lines: [Line] = []
    var start = bytes.startIndex
    var index = start
    while index <= bytes.endIndex {
      let byte = index < bytes.endIndex ? bytes[index] : 0x0A
      if byte == 0x0A || byte == 0x0D {
        guard lines.count < LabelMap.maximumRowCount else {
          throw ApusError(
            .malformedLabels, "line \(lines.count + 1): there are more than \(LabelMap.maximumRowCount) lines"
          )
        }
        let text = trimmed(bytes[start..<index])
        lines.append(Line(number: lines.count + 1, indent: text.startIndex - start, text: text))
        if byte == 0x0D, index + 1 < bytes.endIndex, bytes[index + 1] == 0x0A { index += 1 }
        start = index + 1
      } else if byte < 0x20 && byte != 0x09 || byte == 0x7F {
        let code = String(byte, radix: 16, uppercase: true)
        throw ApusError(
          .malformedLabels, "line \(lines.count + 1): contains the control character 0x\(code)")
      }
      index += 1
    }
    while let last = lines.last, last.isEmpty { lines.removeLast() }
    return lines
  }

  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var (start, end) = (text.startIndex, text.endIndex)
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
    while start < end, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
    return text[start..<end]
  }

  /// Each line is a name; invalid UTF-8 becomes U+FFFD.
  static func plain(_ lines: [Line]) throws(ApusError) -> LabelRows {
    var rows = LabelRows()
    for line in lines {
      try rows.add(String(decoding: line.text, as: UTF8.self), at: line.number - 1, line: line.number)
    }
    return rows
  }

  // MARK: Numbers

  /// A line's number and name, and whether what separates them cannot be part of a name.
  private struct NumberedParts {
    let row: Int?
    let name: ArraySlice<UInt8>
    let isUnmistakable: Bool
  }

  /// The parts of a line that begins with digits, a separator and a name. The row is nil when it is too large.
  private static func numberedParts(_ line: Line) -> NumberedParts? {
    let text = line.text
    guard let end = text.firstIndex(where: { !(0x30...0x39).contains($0) }), end > text.startIndex else {
      return nil
    }
    var rest = text[end...]
    let spaces = rest.prefix { $0 == 0x20 }.count
    var isUnmistakable = spaces >= 2 || rest.prefix { $0 == 0x20 || $0 == 0x09 }.contains(0x09)
    rest = trimmed(rest)
    if let length = separatorLength(rest, isSpaced: spaces > 0) {
      let behind = rest.dropFirst(length)
      // "0,5 l" and "10:30" may be names.
      isUnmistakable = !(behind.first.map { (0x30...0x39).contains($0) } ?? false)
      rest = trimmed(behind)
    } else if let mark = rest.first, mark == UInt8(ascii: ".") || mark == UInt8(ascii: ")"),
      [0x20, 0x09].contains(rest.dropFirst().first)
    {
      // "1. cat" is a number, "1. FC Köln" a name: the other lines decide.
      isUnmistakable = false
      rest = trimmed(rest.dropFirst())
    } else if !isUnmistakable && spaces == 0 {
      return nil
    }
    // "5 - 10 years" is a name.
    if spaces > 0, rest.first == UInt8(ascii: "-"), let next = trimmed(rest.dropFirst()).first,
      (0x30...0x39).contains(next)
    {
      return nil
    }
    // A name may be missing after a colon, but a bare number is a name itself.
    return NumberedParts(row: row(text[..<end]), name: unquoted(rest), isUnmistakable: isUnmistakable)
  }

  /// How many bytes the mark between a number and a name takes; nil if the text does not begin with one.
  ///
  /// - Parameter isSpaced: Whether spaces are in front of it, as around a dash.
  private static func separatorLength(_ text: ArraySlice<UInt8>, isSpaced: Bool) -> Int? {
    if text.starts(with: "->".utf8) || text.starts(with: "=>".utf8) { return 2 }
    guard let first = text.first else { return nil }
    if ":,=|".utf8.contains(first) { return 1 }
    guard first == UInt8(ascii: "-"), isSpaced, text.dropFirst().first == 0x20 else { return nil }
    return trimmed(text.dropFirst()).first.map { (0x30...0x39).contains($0) } ?? false ? nil : 1
  }

  /// The text inside the double quotes that enclose all of it, or else the text itself.
  private static func unquoted(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let quote = UInt8(ascii: "\"")
    guard text.count > 2, text.first == quote, text.last == quote else { return text }
    let inside = text.dropFirst().dropLast()
    return inside.contains(quote) ? text : inside
  }

  /// The value of digits, or nil at ``LabelMap/maximumRowCount`` and above.
  static func row(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      value = value * 10 + Int(digit) - 0x30
      guard value < LabelMap.maximumRowCount else { return nil }
    }
    return value
  }

  /// The rows of lines that all have a number, and the numbers in the order of the lines.
  private static func numbered(_ lines: [Line]) throws(ApusError) -> (rows: LabelRows, numbers: [Int]) {
    var rows = LabelRows(statesRows: true)
    var numbers: [Int] = []
    for line in lines where !line.isEmpty && !line.isComment {
      guard let parts = numberedParts(line) else {
        throw ApusError(
          .malformedLabels,
          "line \(line.number): a number and a name were expected, as in the lines before it")
      }
      try rows.add(String(decoding: parts.name, as: UTF8.self), at: parts.row, line: line.number)
      if let row = parts.row { numbers.append(row) }
    }
    guard !numbers.isEmpty else { throw ApusError(.malformedLabels, "line 1: there are no labels") }
    return (rows, numbers)
  }

  /// The rows of lines that all end in a number behind a comma, a semicolon, a colon or a tab, as in `cat,0`, if these are 0, 1, 2, … or 1, 2, 3, … in any order.
  private static func numberedBehind(_ lines: [Line]) -> LabelRows? {
    var names: [Int: String] = [:]
    for line in lines where !line.isEmpty && !line.isComment {
      let digits = line.text.reversed().prefix { (0x30...0x39).contains($0) }.count
      let spaced = line.text.dropLast(digits)
      let rest = trimmed(spaced)
      let isMarked = rest.last.map(",;:".utf8.contains) ?? false
      guard digits > 0, isMarked || spaced[rest.endIndex...].contains(0x09),
        let row = row(line.text.suffix(digits)), names[row] == nil
      else { return nil }
      let name = isMarked ? trimmed(rest.dropLast()) : rest
      guard !name.isEmpty, name.count <= LabelMap.maximumNameLength else { return nil }
      names[row] = String(decoding: unquoted(name), as: UTF8.self)
    }
    guard names.count > 1, Set(names.values).count == names.count, let first = names.keys.min(), first <= 1,
      let last = names.keys.max(), last - first + 1 == names.count
    else { return nil }
    return LabelRows(names: names, count: last + 1, statesRows: true)
  }
}
