// SPDX-License-Identifier: Apache-2.0

/// How often items of each class were taken for each class.
public struct ConfusionCounts: Hashable, Sendable {
  /// A class, what it was taken for, and how often.
  public struct Entry: Hashable, Sendable {
    /// The class that the truth says.
    public let truth: Int
    /// The class that the model found.
    public let found: Int
    /// How many items: pictures, objects or pixels.
    public let count: Int
  }

  private struct Pair: Hashable {
    let truth: Int
    let found: Int
  }

  private var counts: [Pair: Int] = [:]

  /// Makes empty counts.
  public init() {}

  /// Counts items of one class that were taken for a class, the same or another. A sum beyond the largest integer stays there.
  public mutating func add(truth: Int, found: Int, count: Int = 1) {
    let pair = Pair(truth: truth, found: found)
    let (sum, overflow) = (counts[pair] ?? 0).addingReportingOverflow(count)
    counts[pair] = overflow ? .max : sum
  }

  /// Adds other counts to these.
  public mutating func add(_ other: ConfusionCounts) {
    for (pair, count) in other.counts { add(truth: pair.truth, found: pair.found, count: count) }
  }

  /// How many items of a class were taken for a class.
  public func count(truth: Int, found: Int) -> Int { counts[Pair(truth: truth, found: found)] ?? 0 }

  /// All counts, by the class that the truth says, then by the class that was found.
  public var entries: [Entry] {
    counts.map { Entry(truth: $0.key.truth, found: $0.key.found, count: $0.value) }
      .sorted { ($0.truth, $0.found) < ($1.truth, $1.found) }
  }

  /// The counts of wrong classes, the largest first; equal ones by their classes.
  public var mistakes: [Entry] {
    entries.filter { $0.truth != $0.found }
      .sorted { ($1.count, $0.truth, $0.found) < ($0.count, $1.truth, $1.found) }
  }
}
