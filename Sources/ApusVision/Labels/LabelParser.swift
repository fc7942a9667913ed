// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads the text forms of a label file.
enum LabelParser {
  typealias Rows = (names: [Int: String], rowCount: Int)

  /// One line: its bytes without spaces around them, and its number from 1.
  struct Line {
    let number: Int
    let text: ArraySlice<UInt8>
  }

  static func parse(_ bytes: [UInt8], format: LabelMap.Format) throws(ApusError) -> Rows {
    guard bytes.count <= LabelMap.maximumFileSize else {
      throw ApusError(
        .resourceLimit, "\(bytes.count) bytes of labels are beyond the limit of \(LabelMap.maximumFileSize)")
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw ApusError(.malformedLabels, "line 1: the text is UTF-16; UTF-8 was expected")
    }
    let lines = try split(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...])
    guard !lines.isEmpty else { throw ApusError(.malformedLabels, "line 1: there are no labels") }
    switch format {
    case .lines: return try plain(lines)
    case .numberedLines: return try numbered(lines)
    case .protobufText: return try ProtobufTextParser.labels(in: lines)
    case .automatic: break
    }
    if ProtobufTextParser.looksLikeItems(lines) { return try ProtobufTextParser.labels(in: lines) }
    let content = lines.first { !$0.text.isEmpty && $0.text.first != UInt8(ascii: "#") }
    switch content.flatMap(numberedParts)?.isUnmistakable {
    case true?: return try numbered(lines)
    case false?:
      if let rows = try weaklyNumbered(lines) { return rows }
      return try plain(lines)
    case nil: return try plain(lines)
    }
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
        lines.append(Line(number: lines.count + 1, text: trimmed(bytes[start..<index])))
        if byte == 0x0D, index + 1 < bytes.endIndex, bytes[index + 1] == 0x0A { index += 1 }
        start = index + 1
      } else if byte < 0x20 && byte != 0x09 || byte == 0x7F {
        let code = String(byte, radix: 16, uppercase: true)
        throw ApusError(
          .malformedLabels, "line \(lines.count + 1): contains the control character 0x\(code)")
      }
      index += 1
    }
    while let last = lines.last, last.text.isEmpty { lines.removeLast() }
    return lines
  }

  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var (start, end) = (text.startIndex, text.endIndex)
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
    while start < end, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
    return text[start..<end]
  }

  /// The text of a name; invalid UTF-8 is replaced, and a name that is too long is damage.
  static func name(_ bytes: some Collection<UInt8>, line: Int) throws(ApusError) -> String {
    guard bytes.count <= LabelMap.maximumNameLength else {
      throw ApusError(
        .malformedLabels,
        "line \(line): a name of \(bytes.count) bytes is longer than \(LabelMap.maximumNameLength)")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func plain(_ lines: [Line]) throws(ApusError) -> Rows {
    var names: [Int: String] = [:]
    for line in lines where !line.text.isEmpty {
      names[line.number - 1] = try name(line.text, line: line.number)
    }
    return (names, lines.count)
  }

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
    if rest.first == UInt8(ascii: ":") || rest.first == UInt8(ascii: ",") {
      isUnmistakable = true
      rest = trimmed(rest.dropFirst())
    } else if !isUnmistakable && spaces == 0 {
      return nil
    }
    // A name may be missing after a colon, but a bare number is a name itself.
    return NumberedParts(row: row(text[..<end]), name: rest, isUnmistakable: isUnmistakable)
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

  private static func numbered(_ lines: [Line]) throws(ApusError) -> Rows {
    var names: [Int: String] = [:]
    var lineOfRow: [Int: Int] = [:]
    for line in lines where !line.text.isEmpty && line.text.first != UInt8(ascii: "#") {
      guard let parts = numberedParts(line) else {
        throw ApusError(
          .malformedLabels,
          "line \(line.number): a number and a name were expected, as in the lines before it")
      }
      guard let row = parts.row else {
        throw ApusError(
          .malformedLabels, "line \(line.number): the number is not below \(LabelMap.maximumRowCount)")
      }
      if let other = lineOfRow.updateValue(line.number, forKey: row) {
        throw ApusError(.malformedLabels, "line \(line.number): the number \(row) is that of line \(other)")
      }
      if !parts.name.isEmpty { names[row] = try name(parts.name, line: line.number) }
    }
    guard let last = lineOfRow.keys.max() else {
      throw ApusError(.malformedLabels, "line 1: there are no labels")
    }
    return (names, last + 1)
  }

  /// The rows if every line has a number of its own and a name, otherwise nil.
  private static func weaklyNumbered(_ lines: [Line]) throws(ApusError) -> Rows? {
    var seen: Set<Int> = []
    for line in lines where !line.text.isEmpty && line.text.first != UInt8(ascii: "#") {
      guard let parts = numberedParts(line), let row = parts.row, seen.insert(row).inserted else {
        return nil
      }
    }
    return try numbered(lines)
  }
}
