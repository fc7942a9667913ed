// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads labels from values separated by commas, semicolons or tabs, whose first line names the columns.
struct LabelTable {
  private typealias Row = (line: Int, cells: [String])

  /// The headings of columns of indices, the surest first.
  private static let indexWords = [
    "index", "idx", "id", "classid", "classindex", "classidx", "labelid", "labelindex", "categoryid",
    "number",
    "no", "row", "class", "label", "target", "value", "unnamed:0", "",
  ]
  /// The headings of columns of names, the surest first.
  private static let nameWords = [
    "displayname", "name", "classname", "labelname", "categoryname", "label", "class", "category", "title",
    "text",
  ]

  let rows: LabelRows

  /// Whether the first line names a column of indices and one of names.
  static func looksLikeHeader(_ lines: [LabelParser.Line]) -> Bool {
    guard let first = lines.first(where: { !$0.isEmpty && !$0.isComment }),
      let separator = separator(of: first.text), let cells = try? cells(first, separator)
    else { return false }
    // Counts rather than pairs: a line may have millions of cells.
    var (indices, names, both) = (0, 0, 0)
    for word in cells.lazy.map(word) {
      let (isIndex, isName) = (indexWords.contains(word), nameWords.contains(word))
      if isIndex { indices += 1 }
      if isName { names += 1 }
      if isIndex && isName { both += 1 }
    }
    // One cell alone cannot be both columns.
    return indices > 0 && names > 0 && !(indices == 1 && names == 1 && both == 1)
  }

  /// Reads a table; nil if the first line is no header, so that lines may be numbers and names, or names alone.
  ///
  /// - Throws: `malformedLabels` with the line if columns are missing, or a row does not fit them.
  init?(_ lines: [LabelParser.Line]) throws(ApusError) {
    let lines = lines.filter { !$0.isEmpty }
    guard let first = lines.first else { return nil }
    guard let separator = Self.separator(of: first.text) else {
      // One column: the names, in order, and perhaps what it is called.
      guard Self.nameWords.contains(Self.word(String(decoding: first.text, as: UTF8.self))) else {
        return nil
      }
      rows = try Self.named(Self.rows(lines.dropFirst(), UInt8(ascii: ",")), column: 0)
      return
    }
    let header = try Self.cells(first, separator).map(Self.word)
    if header.contains(where: { Int($0) != nil }) {
      guard header.count == 2 else {
        throw ApusError(
          .malformedLabels,
          "line \(first.number): a header was expected, because there are \(header.count) columns")
      }
      return nil
    }
    let body = try Self.rows(lines.dropFirst(), separator)
    for row in body where row.cells.count != header.count {
      throw ApusError(
        .malformedLabels,
        "line \(row.line): there are \(row.cells.count) values, but \(header.count) columns")
    }
    func column(_ words: [String], where fits: (Int) -> Bool) -> Int? {
      for word in words {
        if let found = header.indices.first(where: { header[$0] == word && fits($0) }) { return found }
      }
      return nil
    }
    func isNumbers(_ column: Int) -> Bool { body.allSatisfy { Int($0.cells[column]) != nil } }
    let index = column(Self.indexWords) { isNumbers($0) }
    var name = column(Self.nameWords) { $0 != index && !isNumbers($0) }
    name = name ?? column(Self.nameWords) { $0 != index }
    // Of two columns, what is not the index is the name, whatever it is called.
    if name == nil, let index, header.count == 2 { name = 1 - index }
    guard let name else {
      throw ApusError(
        .malformedLabels,
        "line \(first.number): no column is called index, id or class, or none name or label")
    }
    guard let index else {
      if let column = column(Self.indexWords, where: { $0 != name }),
        let wrong = body.first(where: { Int($0.cells[column]) == nil })
      {
        throw ApusError(
          .malformedLabels, "line \(wrong.line): '\(wrong.cells[column])' is not the index of a class")
      }
      rows = try Self.named(body, column: name)
      return
    }
    var rows = LabelRows(statesRows: true)
    for row in body { try rows.add(row.cells[name], at: Int(row.cells[index]), line: row.line) }
    self.rows = try Self.notEmpty(rows)
  }

  /// The names of a column, in order; a name twice means that rows are not classes.
  private static func named(_ body: [Row], column: Int) throws(ApusError) -> LabelRows {
    var rows = LabelRows()
    var lines: [String: Int] = [:]
    for (position, row) in body.enumerated() {
      let name = row.cells.indices.contains(column) ? row.cells[column] : ""
      if !name.isEmpty, name != LabelRows.placeholder, let other = lines.updateValue(row.line, forKey: name) {
        throw ApusError(
          .malformedLabels, "line \(row.line): the name is that of line \(other), and no column is an index")
      }
      try rows.add(name, at: position, line: row.line)
    }
    return try notEmpty(rows)
  }

  private static func notEmpty(_ rows: LabelRows) throws(ApusError) -> LabelRows {
    guard rows.count > 0 else { throw ApusError(.malformedLabels, "line 1: there are no labels") }
    return rows
  }

  // MARK: Cells

  /// A column's name without case and punctuation.
  private static func word(_ cell: String) -> String {
    cell.lowercased().filter { !" _-".contains($0) }
  }

  /// The first character outside quotes that separates values.
  private static func separator(of text: ArraySlice<UInt8>) -> UInt8? {
    var isQuoted = false
    for byte in text {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if !isQuoted, ",;\t".utf8.contains(byte) { return byte }
    }
    return nil
  }

  private static func rows(_ lines: ArraySlice<LabelParser.Line>, _ separator: UInt8) throws(ApusError)
    -> [Row]
  {
    var rows: [Row] = []
    for line in lines { rows.append((line.number, try cells(line, separator))) }
    return rows
  }

  /// The values of a line; quotes are taken away, and two within quotes are one.
  private static func cells(_ line: LabelParser.Line, _ separator: UInt8) throws(ApusError) -> [String] {
    let quote = UInt8(ascii: "\"")
    var cells: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    var wasQuoted = false
    var index = line.text.startIndex
    func end() {
      let text = wasQuoted ? cell[...] : LabelParser.trimmed(cell[...])
      cells.append(String(decoding: text, as: UTF8.self))
      (cell, wasQuoted) = ([], false)
    }
    while index < line.text.endIndex {
      let byte = line.text[index]
      index += 1
      if isQuoted {
        guard byte == quote else {
          cell.append(byte)
          continue
        }
        if index < line.text.endIndex, line.text[index] == quote {
          cell.append(quote)
          index += 1
        } else {
          isQuoted = false
        }
      } else if byte == separator {
        end()
      } else if byte == quote, LabelParser.trimmed(cell[...]).isEmpty, !wasQuoted {
        (cell, isQuoted, wasQuoted) = ([], true, true)
      } else if !wasQuoted || byte != 0x20 && byte != 0x09 {
        cell.append(byte)
      }
    }
    guard !isQuoted else { throw ApusError(.malformedLabels, "line \(line.number): a quote is not closed") }
    end()
    return cells
  }
}
