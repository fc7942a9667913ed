// SPDX-License-Identifier: Apache-2.0

/// Collects values with scores, of which only the best matter: those that cannot be among them are dropped on the way, so
/// that memory does not grow with the number of candidates that a model has.
///
/// Of equal scores, earlier values are better. Scores are numbers, not NaN.
package struct BestValues<Value> {
  private typealias Entry = (score: Float, order: Int, value: Value)

  /// Fewer values are not worth being sorted early.
  private static var leastBatch: Int { 1 << 12 }

  private let limit: Int
  private var entries: [Entry] = []
  private var added = 0
  /// The worst score of a full collection: as much is not enough any more.
  private var worst: Float?

  /// Collects up to `limit` values.
  package init(limit: Int) {
    self.limit = max(limit, 0)
  }

  /// Adds a value.
  package mutating func add(_ value: Value, score: Float) {
    if let worst, score <= worst { return }
    entries.append((score, added, value))
    added += 1
    guard entries.count / 2 >= max(limit, Self.leastBatch) else { return }
    sort()
    worst = entries.last?.score
  }

  /// The values, best first.
  package consuming func sorted() -> [Value] {
    sort()
    return entries.map(\.value)
  }

  private mutating func sort() {
    entries.sort { $0.score > $1.score || $0.score == $1.score && $0.order < $1.order }
    if entries.count > limit { entries.removeLast(entries.count - limit) }
  }
}
