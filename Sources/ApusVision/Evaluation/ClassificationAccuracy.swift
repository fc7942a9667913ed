// SPDX-License-Identifier: Apache-2.0

import Apus

/// The share of items whose class a classifier finds: top-1 and top-5.
///
/// ```swift
/// var accuracy = ClassificationAccuracy()
/// accuracy.add(ranking: [7, 3, 1], truth: 7)
/// accuracy.add(ranking: [2, 5, 7], truth: 7)
/// accuracy.top1     // 0.5
/// ```
///
/// Top-1 is scikit-learn's `accuracy_score` of the best classes.
public struct ClassificationAccuracy: Hashable, Sendable {
  /// The results of one class.
  public struct ClassCounts: Hashable, Sendable {
    /// How many items have the class.
    public fileprivate(set) var total = 0
    /// For how many of them it came first.
    public fileprivate(set) var first = 0
    /// For how many of them it was among the first five.
    public fileprivate(set) var amongFive = 0
  }

  /// The results of each class that items have.
  public private(set) var classes: [Int: ClassCounts] = [:]
  /// Which classes were taken for which.
  public private(set) var confusions = ConfusionCounts()

  /// Makes the accuracy of no items.
  public init() {}

  /// Counts an item.
  ///
  /// - Parameters:
  ///   - ranking: The classes that the model finds, the best first; more than five change nothing, and none is a miss.
  ///   - truth: The item's class.
  public mutating func add(ranking: [Int], truth: Int) {
    var counts = classes[truth] ?? ClassCounts()
    counts.total += 1
    if ranking.first == truth { counts.first += 1 }
    if ranking.prefix(5).contains(truth) { counts.amongFive += 1 }
    classes[truth] = counts
    if let first = ranking.first { confusions.add(truth: truth, found: first) }
  }

  /// Counts an item by the scores of all classes; equal scores rank by their index, as `argmax` of NumPy does.
  ///
  /// - Throws: `invalidData` for a score that is not a number.
  public mutating func add(scores: [Float], truth: Int) throws(ApusError) {
    add(ranking: try Self.ranking(of: scores), truth: truth)
  }

  /// The five best classes by their scores; equal scores by their index.
  ///
  /// - Throws: `invalidData` for a score that is not a number.
  package static func ranking(of scores: [Float]) throws(ApusError) -> [Int] {
    if let odd = scores.firstIndex(where: \.isNaN) {
      throw ApusError(.invalidData, "the score of class \(odd) is not a number")
    }
    var best = BestValues<Int>(limit: 5)
    for index in scores.indices { best.add(index, score: scores[index]) }
    return best.sorted()
  }

  /// How many items were counted.
  public var itemCount: Int { classes.values.reduce(0) { $0 + $1.total } }
  /// How many items have their class first.
  public var firstCount: Int { classes.values.reduce(0) { $0 + $1.first } }
  /// How many items have their class among the first five.
  public var amongFiveCount: Int { classes.values.reduce(0) { $0 + $1.amongFive } }

  /// The share of items whose class came first, from 0 to 1; nil without items.
  public var top1: Double? { itemCount > 0 ? Double(firstCount) / Double(itemCount) : nil }
  /// The share of items whose class was among the first five, from 0 to 1; nil without items.
  public var top5: Double? { itemCount > 0 ? Double(amongFiveCount) / Double(itemCount) : nil }
}
