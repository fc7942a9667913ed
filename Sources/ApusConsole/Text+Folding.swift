// SPDX-License-Identifier: Apache-2.0

/// A text whose lines have at most `width` characters: longer ones go on in the next line, four columns to the right of
/// where they began.
package func folded(_ text: String, width: Int) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    guard line.utf8.count > width, line.count > width else { return String(line) }
    let indent = min(line.prefix { $0 == " " }.count, width / 2)
    let first = pieces(of: line.dropFirst(indent), width: max(width - indent, 1))[0]
    let margin = String(repeating: " ", count: min(indent + 4, width / 2))
    let rest = line.dropFirst(indent + first.count).drop { $0 == " " }
    let further = pieces(of: rest, width: max(width - margin.count, 1)).filter { !$0.isEmpty }
    return ([String(repeating: " ", count: indent) + first] + further.map { margin + $0 })
      .joined(separator: "\n")
  }.joined(separator: "\n")
}

/// Rows of a table in which cells of the widest columns are broken, each into several rows, until lines fit the width.
func folded(_ rows: [[String]], width: Int) -> [[String]] {
  let columns = 0..<(rows.map(\.count).max() ?? 0)
  var widths: [Int] = columns.map { column in
    rows.reduce(1) { max($0, column < $1.count ? $1[column].count : 0) }
  }
  let available = max(width - 2 * (widths.count - 1), 0)
  // The widest column gives way, down to the next one's width.
  while widths.reduce(0, +) > available, let widest = widths.max(), widest > minimumFoldedWidth {
    let next = max(widths.filter { $0 < widest }.max() ?? 0, minimumFoldedWidth)
    let count = widths.count { $0 == widest }
    let share = (widths.reduce(0, +) - available + count - 1) / count
    for column in widths.indices where widths[column] == widest { widths[column] = max(widest - share, next) }
  }
  return rows.flatMap { row -> [[String]] in
    let cells = row.enumerated().map { pieces(of: Substring($1), width: widths[$0]) }
    return (0..<(cells.map(\.count).max() ?? 1)).map { line in
      cells.map { line < $0.count ? $0[line] : "" }
    }
  }
}

/// The width, in characters, below which no column is narrowed.
private let minimumFoldedWidth = 8

/// The pieces of a line with at most `width` characters each, broken after spaces, otherwise after the marks between the
/// parts of a name, otherwise anywhere.
private func pieces(of line: Substring, width: Int) -> [String] {
  var (result, rest): ([String], Substring) = ([], line)
  // The rest is not counted: lines may be long, and have thousands of pieces.
  while var end = rest.index(rest.startIndex, offsetBy: width, limitedBy: rest.endIndex), end < rest.endIndex
  {
    // A space right after the piece is as good as one in it.
    let window = rest.prefix(width + 1)
    if let space = window.lastIndex(of: " "), space > window.startIndex {
      end = space
    } else if let mark = window.dropLast().lastIndex(where: { ";/,_.|×:-".contains($0) }) {
      end = rest.index(after: mark)
    }
    var piece = rest[..<end]
    while piece.last == " " { piece.removeLast() }
    result.append(String(piece))
    rest = rest[end...].drop { $0 == " " }
  }
  result.append(String(rest))
  return result
}
