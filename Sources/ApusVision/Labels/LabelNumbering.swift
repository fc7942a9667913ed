// SPDX-License-Identifier: Apache-2.0

/// A file whose lines all begin with a number and a space: the numbers are rows, or part of names such as `20 DH`.
struct LabelNumbering: Hashable, Sendable {
  /// The rows if the numbers are those of rows.
  private let numbered: LabelRows
  /// The rows if every line is a name.
  private let plain: LabelRows
  /// Whether the numbers are 0, 1, 2, … or 1, 2, 3, … in any order.
  private let isConsecutive: Bool
  /// Whether the numbers ascend.
  private let isAscending: Bool
  /// How many lines have a number.
  private let lineCount: Int
  private let first: Int
  private let last: Int

  /// Judges the numbers; nil if the names behind them are mostly the same, so that the numbers belong to them.
  init?(_ rows: [Int], numbered: LabelRows, plain: LabelRows) {
    guard let first = rows.min(), let last = rows.max(), Self.differ(numbered) else { return nil }
    (self.first, self.last, lineCount) = (first, last, rows.count)
    isConsecutive = first <= 1 && last - first + 1 == rows.count
    isAscending = zip(rows, rows.dropFirst()).allSatisfy(<)
    (self.numbered, self.plain) = (numbered.withoutLines, plain.withoutLines)
  }

  /// Whether nearly all names differ: a few classes of long lists share one.
  static func differ(_ rows: LabelRows) -> Bool {
    let names = rows.names.values.filter { $0 != LabelRows.placeholder }
    return 20 * Set(names).count >= 19 * names.count
  }

  /// Whether the numbers are rows of a model with that many classes; nil where they are not known.
  func areRows(ofClassCount classCount: Int?) -> Bool {
    if isConsecutive { return true }
    // Gaps: some classes have no line, so there are fewer lines than classes. Lists with gaps are written in order.
    guard let classCount else { return isAscending && last < 2 * lineCount }
    let fits = last < classCount || first >= 1 && last == classCount
    return isAscending && fits && lineCount < classCount
  }

  /// The rows in one reading.
  func rows(ifNumbered: Bool) -> LabelRows { ifNumbered ? numbered : plain }
}
