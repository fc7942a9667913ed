// SPDX-License-Identifier: Apache-2.0

import Apus

/// A number with a fixed count of decimals, without Foundation's formatters; a dash for none.
package func decimal(_ value: Double?, _ places: Int) -> String {
  guard let value else { return "–" }
  var unit = 1
  for _ in 0..<places { unit *= 10 }
  // Beyond, the decimals would be none of the number's own; far beyond, they would not fit an integer.
  guard value.isFinite, abs(value) < 1e15 / Double(unit) else { return "\(value)" }
  let scaled = Int((abs(value) * Double(unit)).rounded())
  let sign = value < 0 && scaled > 0 ? "-" : ""
  if places == 0 { return "\(sign)\(scaled)" }
  let fraction = String(scaled % unit)
  return "\(sign)\(scaled / unit)." + String(repeating: "0", count: places - fraction.count) + fraction
}

/// How much a column of a table is widened in all by its longest cell; cells of long tables may be this wide at least.
private let maximumPadding = 1 << 20
private let minimumWidth = 64

/// Rows of text in columns as wide as they need; the first row is a heading. In long tables, what is wider than most cells stands
/// out of its column.
///
/// - Parameter width: How long a line may be: cells of the widest columns are then broken. Nil for any length.
package func table(_ rows: [[String]], rightAligned: Set<Int> = [], width: Int? = nil) -> String {
  // One cell makes all of its column as wide.
  var rows = rows.map { $0.map { oneLine($0).brief } }
  if let width { rows = folded(rows, width: width) }
  let columns = rows.map(\.count).max() ?? 0
  let limit = max(minimumWidth, maximumPadding / max(rows.count, 1))
  let widths = (0..<columns).map { column in
    min(rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0, limit)
  }
  return rows.map { row in
    var line = ""
    // Spaces that the next cell needs before it; after the last one there are none.
    var spaces = 0
    for (column, cell) in row.enumerated() {
      let padding = max(widths[column] - cell.count, 0)
      if cell.isEmpty {
        spaces += padding + 2
        continue
      }
      let isRight = rightAligned.contains(column)
      line += String(repeating: " ", count: spaces + (isRight ? padding : 0)) + cell
      spaces = (isRight ? 0 : padding) + 2
    }
    while line.last == " " { line.removeLast() }
    return line
  }.joined(separator: "\n")
}
