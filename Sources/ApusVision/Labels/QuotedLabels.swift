// SPDX-License-Identifier: Apache-2.0

import Apus

/// Names in quotes, as lists in programs have them: with brackets and an assignment, or with neither.
enum QuotedLabels {
  /// The rows of lines with nothing but names in quotes; nil for other lines.
  ///
  /// - Throws: `malformedLabels` with the line behind whose name a comma is missing that others have.
  static func rows(of lines: [LabelParser.Line]) throws(ApusError) -> LabelRows? {
    guard let first = lines.first(where: { !$0.isEmpty && !$0.isComment })?.text.first, isQuote(first) else {
      return nil
    }
    var items: [LabelFlowParser.Item] = []
    do throws(ApusError) {
      var parser = LabelFlowParser(lines, at: 0, allowsPlainText: false)
      while let item = try parser.quotedItem() { items.append(item) }
    } catch {
      // Something else is there: "Weird Al" Yankovic.
      return nil
    }
    if items.dropLast().allSatisfy(\.hasComma) {
      var rows = LabelRows()
      for (position, item) in items.enumerated() { try rows.add(item.text, at: position, line: item.line) }
      return rows
    }
    if let rows = try oneALine(items, lines) { return rows }
    if let rows = try pairs(items) { return rows }
    let odd = items.dropLast().first { !$0.hasComma }
    throw ApusError(
      .malformedLabels,
      "line \(odd?.line ?? 1): a comma was expected behind '\(odd?.text.prefix(64) ?? "")', as behind other names"
    )
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  /// Names without commas, one a line: blank lines between them are rows without a name.
  private static func oneALine(
    _ items: [LabelFlowParser.Item], _ lines: [LabelParser.Line]
  ) throws(ApusError) -> LabelRows? {
    guard !items.contains(where: \.hasComma), Set(items.map(\.line)).count == items.count else { return nil }
    var names: [Int: String] = [:]
    for item in items { names[item.line] = item.text }
    var rows = LabelRows()
    for (position, line) in lines.filter({ !$0.isComment }).enumerated() {
      try rows.add(names[line.number], at: position, line: line.number)
    }
    return rows
  }

  /// An index and a name on each line, as in tables that quote every cell.
  private static func pairs(_ items: [LabelFlowParser.Item]) throws(ApusError) -> LabelRows? {
    guard items.count.isMultiple(of: 2) else { return nil }
    var rows = LabelRows(statesRows: true)
    for start in stride(from: 0, to: items.count, by: 2) {
      let (index, name) = (items[start], items[start + 1])
      guard index.hasComma, !name.hasComma, index.line == name.line, let row = Int(index.text), row >= 0
      else {
        return nil
      }
      try rows.add(name.text, at: row, line: name.line)
    }
    return rows
  }

  // MARK: Assignments

  /// The rows of a list that a program assigns, such as `labels = ["owl", "elk"]`; nil for other lines.
  ///
  /// - Throws: `malformedLabels` with the line for a list that is not closed, or whose values are no names.
  static func assigned(_ lines: [LabelParser.Line]) throws(ApusError) -> LabelRows? {
    guard let index = lines.firstIndex(where: { !$0.isEmpty && !$0.isComment }),
      let equals = lines[index].text.firstIndex(of: UInt8(ascii: "="))
    else { return nil }
    let (text, name) = (lines[index].text, lines[index].text[..<equals])
    guard !LabelParser.trimmed(name).isEmpty, name.allSatisfy(isDeclaration) else { return nil }
    guard let bracket = text[equals...].firstIndex(where: { "[({".utf8.contains($0) }) else { return nil }
    // A quote has to follow, perhaps on the next line: "f(x) = [x]" is a name.
    let next =
      LabelParser.trimmed(text[(bracket + 1)...]).first
      ?? lines[(index + 1)...].first { !$0.isEmpty }?.text.first
    guard let next, isQuote(next) else { return nil }
    let isArray = text[bracket] == UInt8(ascii: "{") && name.contains(UInt8(ascii: "["))
    guard LabelParser.trimmed(text[(equals + 1)..<bracket]).isEmpty,
      isArray || text[bracket] != UInt8(ascii: "{")
    else {
      throw ApusError(
        .malformedLabels,
        "line \(lines[index].number): the names are in a program; give them alone, one a line, or as a JSON list"
      )
    }
    var parser = LabelFlowParser(lines, at: index, position: bracket, allowsPlainText: false)
    return try parser.array().rows()
  }

  /// Whether a byte can be in front of `=`: `static const char *labels[]`, `labels: List[str]`.
  private static func isDeclaration(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_ \t.,:<>[]*".utf8.contains(byte)
    }
  }

  // MARK: Commas

  /// The lines without the comma or semicolon at their ends, if all but the last have one.
  static func withoutSeparators(_ lines: [LabelParser.Line]) -> [LabelParser.Line] {
    let content = lines.filter { !$0.isEmpty && !$0.isComment }
    guard content.count > 1, let separator = content[0].text.last, ",;".utf8.contains(separator),
      content.dropLast().allSatisfy({ $0.text.last == separator })
    else { return lines }
    return lines.map { line in
      guard line.text.last == separator else { return line }
      return LabelParser.Line(
        number: line.number, indent: line.indent, text: LabelParser.trimmed(line.text.dropLast()))
    }
  }
}
