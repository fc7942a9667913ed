// SPDX-License-Identifier: Apache-2.0

import Apus

/// The names of classes by row, and how many rows there are.
struct LabelRows: Hashable, Sendable {
  /// The text that label files have in a row without a class.
  static let placeholder = "???"

  /// The names by row.
  private(set) var names: [Int: String] = [:]
  /// One more than the last row.
  private(set) var count = 0
  /// Whether the file says which row each name has, rather than listing names in order.
  var statesRows = false
  /// For each row of a file: the line that has it.
  private var lines: [Int: Int] = [:]

  /// No rows yet.
  init() {}

  /// Rows that are known to be right.
  init(names: [Int: String], count: Int, statesRows: Bool = false) {
    (self.names, self.count, self.statesRows) = (names, count, statesRows)
  }

  /// No rows yet, of a file that says which row each name has.
  init(statesRows: Bool) { self.statesRows = statesRows }

  /// Adds the row of a line of a file; without a name it counts all the same.
  ///
  /// - Throws: `malformedLabels` if another line has that row, or the number or the name is too large.
  mutating func add(_ name: String?, at row: Int?, line: Int) throws(ApusError) {
    guard let row, (0..<LabelMap.maximumRowCount).contains(row) else {
      throw ApusError(
        .malformedLabels, "line \(line): the number is not from 0 to \(LabelMap.maximumRowCount - 1)")
    }
    if let other = lines.updateValue(line, forKey: row) {
      throw ApusError(.malformedLabels, "line \(line): the number \(row) is that of line \(other)")
    }
    count = max(count, row + 1)
    guard let name, !name.isEmpty else { return }
    guard name.utf8.count <= LabelMap.maximumNameLength else {
      throw ApusError(
        .malformedLabels,
        "line \(line): a name of \(name.utf8.count) bytes is longer than \(LabelMap.maximumNameLength)")
    }
    names[row] = name
  }

  /// The rows alone, without what is known of a file's lines.
  var withoutLines: LabelRows { LabelRows(names: names, count: count, statesRows: statesRows) }

  /// Whether a row has the name that stands for none.
  func isPlaceholder(_ row: Int) -> Bool { names[row] == Self.placeholder }

  /// The name in a row; nil for one that has none, and for the name that stands for none.
  func name(_ row: Int) -> String? {
    let name = names[row]
    return name == Self.placeholder ? nil : name
  }
}
