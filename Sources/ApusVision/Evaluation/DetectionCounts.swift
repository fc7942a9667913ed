// SPDX-License-Identifier: Apache-2.0

/// Counts of the objects that a detector finds and misses at one score threshold, as its boxes show them.
///
/// A box counts from an overlap of half. Each finding, the best first, takes the object of its category that
/// it overlaps most; findings left over are matched with objects of other categories, which are confusions.
/// Crowds need not be found, and boxes in them are no mistakes.
public struct DetectionCounts: Hashable, Sendable {
  /// Objects that were found.
  public private(set) var found = 0
  /// Objects that were found as another category.
  public private(set) var confused = 0
  /// Objects that were not found.
  public private(set) var missed = 0
  /// Boxes where no object is, or one that was found already.
  public private(set) var extra = 0
  /// Which categories were found, and taken for which.
  public private(set) var confusions = ConfusionCounts()

  /// The overlap from which a box counts.
  private static let minimumOverlap = 0.5

  /// Makes the counts of no pictures.
  public init() {}

  /// Counts the objects and findings of a picture.
  ///
  /// - Parameters:
  ///   - truths: The objects that there are.
  ///   - findings: What was found.
  ///   - threshold: The least score of findings that count.
  public init(
    truths: [DetectionAccuracy.Truth], findings: [DetectionAccuracy.Finding], threshold: Double
  ) {
    let order = findings.indices.filter { findings[$0].score >= threshold }
      .sorted { (findings[$1].score, $0) < (findings[$0].score, $1) }
    var rest: [DetectionAccuracy.Finding] = []
    var isTaken = truths.map(\.isCrowd)
    func best(_ finding: DetectionAccuracy.Finding, among places: [Int]) -> Int? {
      var (least, best): (Double, Int?) = (Self.minimumOverlap, nil)
      for place in places {
        let overlap = finding.box.overlap(with: truths[place].box, isCrowd: truths[place].isCrowd)
        if overlap >= least, best == nil || overlap > least { (least, best) = (overlap, place) }
      }
      return best
    }
    for place in order {
      let finding = findings[place]
      let own = truths.indices.filter { truths[$0].category == finding.category }
      if let match = best(finding, among: own.filter { !isTaken[$0] }) {
        isTaken[match] = true
        found += 1
        confusions.add(truth: finding.category, found: finding.category)
      } else if best(finding, among: own.filter { truths[$0].isCrowd }) == nil {
        rest.append(finding)
      }
    }
    for finding in rest {
      if let match = best(finding, among: truths.indices.filter { !isTaken[$0] }) {
        isTaken[match] = true
        confused += 1
        confusions.add(truth: truths[match].category, found: finding.category)
      } else {
        extra += 1
      }
    }
    missed = isTaken.count { !$0 }
  }

  /// The sum of two counts.
  public static func + (lhs: DetectionCounts, rhs: DetectionCounts) -> DetectionCounts {
    var sum = lhs
    sum.found += rhs.found
    sum.confused += rhs.confused
    sum.missed += rhs.missed
    sum.extra += rhs.extra
    sum.confusions.add(rhs.confusions)
    return sum
  }

  /// Objects that were not found as what they are, and boxes without an object.
  public var mistakeCount: Int { confused + missed + extra }
}
