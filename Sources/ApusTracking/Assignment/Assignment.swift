// SPDX-License-Identifier: Apache-2.0

/// The linear assignment problem: each row gets a column of its own, so that the sum of costs is minimal.
///
/// Shortest augmenting paths with dual variables: R. Jonker and A. Volgenant, "A Shortest Augmenting Path Algorithm for Dense and
/// Sparse Linear Assignment Problems", Computing 38 (1987); for more columns than rows, D. F. Crouse, "On Implementing 2D
/// Rectangular Assignment Algorithms", IEEE Transactions on Aerospace and Electronic Systems 52 (2016).
package enum Assignment {
  /// The column of each row, or nil for rows that are left over where there are more rows than columns.
  ///
  /// Takes at most time proportional to `rows² · columns`, where rows are the shorter side.
  ///
  /// - Parameters:
  ///   - costs: A finite cost for each row and column, row by row.
  ///   - rows: The number of rows.
  ///   - columns: The number of columns.
  package static func minimum(_ costs: [Double], rows: Int, columns: Int) -> [Int?] {
    precondition(costs.count == rows * columns)
    guard rows > 0, columns > 0 else { return [Int?](repeating: nil, count: rows) }
    if rows <= columns { return solve(costs, rows: rows, columns: columns).map { $0 } }
    var transposed = [Double](repeating: 0, count: costs.count)
    for row in 0..<rows {
      for column in 0..<columns { transposed[column * rows + row] = costs[row * columns + column] }
    }
    var result = [Int?](repeating: nil, count: rows)
    for (column, row) in solve(transposed, rows: columns, columns: rows).enumerated() { result[row] = column }
    return result
  }

  /// The column of each row, where there are at least as many columns.
  private static func solve(_ costs: [Double], rows: Int, columns: Int) -> [Int] {
    var rowPrices = [Double](repeating: 0, count: rows)
    var columnPrices = [Double](repeating: 0, count: columns)
    var columnOfRow = [Int](repeating: -1, count: rows)
    var rowOfColumn = [Int](repeating: -1, count: columns)
    var distances = [Double](repeating: 0, count: columns)
    var predecessors = [Int](repeating: -1, count: columns)
    var remaining = [Int](repeating: 0, count: columns)
    var visitedRows: [Int] = []
    var visitedColumns: [Int] = []

    for start in 0..<rows {
      // Dijkstra's algorithm over reduced costs, from the free row to the nearest free column.
      var remainingCount = columns
      for column in 0..<columns {
        distances[column] = .infinity
        remaining[column] = columns - 1 - column
      }
      visitedRows.removeAll(keepingCapacity: true)
      visitedColumns.removeAll(keepingCapacity: true)
      var row = start
      var distance = 0.0
      var end = -1
      while end < 0 {
        visitedRows.append(row)
        var nearest = -1
        var least = Double.infinity
        let base = distance - rowPrices[row]
        for index in 0..<remainingCount {
          let column = remaining[index]
          let candidate = base + costs[row * columns + column] - columnPrices[column]
          if candidate < distances[column] {
            distances[column] = candidate
            predecessors[column] = row
          }
          // Of columns at one distance, a free one ends the search.
          if distances[column] < least || (distances[column] == least && rowOfColumn[column] < 0) {
            least = distances[column]
            nearest = index
          }
        }
        precondition(nearest >= 0, "costs are finite")
        distance = least
        let column = remaining[nearest]
        if rowOfColumn[column] < 0 { end = column } else { row = rowOfColumn[column] }
        visitedColumns.append(column)
        remainingCount -= 1
        remaining[nearest] = remaining[remainingCount]
      }

      rowPrices[start] += distance
      for row in visitedRows where row != start { rowPrices[row] += distance - distances[columnOfRow[row]] }
      for column in visitedColumns { columnPrices[column] -= distance - distances[column] }

      // Along the path, each row takes the column that was reached from it.
      var column = end
      while true {
        let row = predecessors[column]
        rowOfColumn[column] = row
        (columnOfRow[row], column) = (column, columnOfRow[row])
        if row == start { break }
      }
    }
    return columnOfRow
  }
}
