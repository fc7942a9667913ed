// SPDX-License-Identifier: Apache-2.0

/// Collects the best of many scored values. Values that cannot be among the best are dropped on the way, so
/// memory does not grow with the number of a model's candidates.
///
/// Of equal scores, earlier values are better. Scores are numbers, not NaN.
package struct BestValues<Value> {
  private struct Entry {
    let score: Float
    let order: Int
    let value: Value

    func isWorse(than other: Entry) -> Bool {
      score < other.score || score == other.score && order > other.order
    }
  }

  private let limit: Int
  /// A full collection is a heap: each entry is worse than the two that it is above, those at 2 · position + 1 and + 2.
  private var entries: [Entry] = []
  private var added = 0

  /// Collects up to `limit` values.
  package init(limit: Int) {
    self.limit = max(limit, 0)
  }

  /// Adds a value; in a full collection, instead of the worst.
  package mutating func add(_ value: Value, score: Float) {
    added += 1
    let entry = Entry(score: score, order: added, value: value)
    if entries.count < limit {
      entries.append(entry)
      guard entries.count == limit else { return }
      for position in (0..<limit / 2).reversed() { sink(entries[position], from: position) }
    } else if let worst = entries.first, score > worst.score {
      sink(entry, from: 0)
    }
  }

  /// Puts an entry at a position, or below it where a worse one can come up.
  private mutating func sink(_ entry: Entry, from position: Int) {
    var position = position
    while 2 * position + 1 < limit {
      var below = 2 * position + 1
      if below + 1 < limit, entries[below + 1].isWorse(than: entries[below]) { below += 1 }
      guard entries[below].isWorse(than: entry) else { break }
      entries[position] = entries[below]
      position = below
    }
    entries[position] = entry
  }

  /// The values, best first.
  package consuming func sorted() -> [Value] {
    entries.sort { $1.isWorse(than: $0) }
    return entries.map(\.value)
  }
}
