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

/// Rows of text in columns as wide as they need; the first row is a heading.
package func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
  // One cell makes all of its column as wide.
  let rows = rows.map { $0.map(\.brief) }
  let columns = rows.map(\.count).max() ?? 0
  let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
  }
  return rows.map { row in
    var line = ""
    for (column, cell) in row.enumerated() {
      let padding = String(repeating: " ", count: widths[column] - cell.count)
      line += (rightAligned.contains(column) ? padding + cell : cell + padding) + "  "
    }
    while line.last == " " { line.removeLast() }
    return line
  }.joined(separator: "\n")
}
