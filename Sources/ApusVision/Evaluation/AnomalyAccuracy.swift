// SPDX-License-Identifier: Apache-2.0

import Apus

/// How well scores tell anomalies from normal items: the area under the curve of true over false positives.
///
/// ```swift
/// var accuracy = AnomalyAccuracy()
/// try accuracy.add(score: 0.9, isAnomaly: true)
/// try accuracy.add(score: 0.2, isAnomaly: false)
/// accuracy.areaUnderCurve     // 1
/// ```
///
/// The area is the probability that an anomaly has a higher score than a normal item, where equal scores count half: that of
/// scikit-learn's `roc_auc_score`. Source: Hanley and McNeil, "The meaning and use of the area under a receiver operating
/// characteristic (ROC) curve", Radiology 143 (1982).
public struct AnomalyAccuracy: Hashable, Sendable {
  private var normal: [Double] = []
  private var anomalous: [Double] = []

  /// Makes the accuracy of no items.
  public init() {}

  /// Counts an item.
  ///
  /// - Parameters:
  ///   - score: The model's score; higher means more likely an anomaly.
  ///   - isAnomaly: What the truth says.
  /// - Throws: `invalidData` for a score that is not a finite number.
  public mutating func add(score: Double, isAnomaly: Bool) throws(ApusError) {
    guard score.isFinite else {
      throw ApusError(.invalidData, "the score is \(score), not a finite number")
    }
    if isAnomaly { anomalous.append(score) } else { normal.append(score) }
  }

  /// How many items are normal.
  public var normalCount: Int { normal.count }
  /// How many items are anomalies.
  public var anomalyCount: Int { anomalous.count }

  /// The area under the curve, from 0 to 1; 0.5 is chance. Nil unless there are both normal items and anomalies.
  public var areaUnderCurve: Double? {
    guard !normal.isEmpty, !anomalous.isEmpty else { return nil }
    let below = normal.sorted()
    // How many normal items are lower, and how many are not higher.
    var (lower, notHigher) = (0, 0)
    // Twice the number of pairs in order: integers are exact.
    var ordered = 0
    for score in anomalous.sorted() {
      while lower < below.count, below[lower] < score { lower += 1 }
      notHigher = max(notHigher, lower)
      while notHigher < below.count, below[notHigher] <= score { notHigher += 1 }
      ordered += lower + notHigher
    }
    return Double(ordered) / 2 / Double(normal.count) / Double(anomalous.count)
  }
}
