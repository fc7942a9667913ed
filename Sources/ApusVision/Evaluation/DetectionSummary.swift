// SPDX-License-Identifier: Apache-2.0

/// The twelve numbers of COCO, from 0 to 1; nil where no object counts, which pycocotools prints as -1.
public struct DetectionSummary: Hashable, Sendable {
  /// The average precision, a mean over overlaps of 0.5 to 0.95: mAP@[.5:.95].
  public let ap: Double?
  /// The average precision at an overlap of 0.5: mAP@.5.
  public let ap50: Double?
  /// The average precision at an overlap of 0.75.
  public let ap75: Double?
  /// The average precision for objects of up to 32² square pixels.
  public let apSmall: Double?
  /// The average precision for objects of 32² to 96² square pixels.
  public let apMedium: Double?
  /// The average precision for objects from 96² square pixels on.
  public let apLarge: Double?
  /// The average recall with one finding for each category and picture.
  public let ar1: Double?
  /// The average recall with ten findings for each category and picture.
  public let ar10: Double?
  /// The average recall with a hundred findings for each category and picture.
  public let ar100: Double?
  /// The average recall for objects of up to 32² square pixels.
  public let arSmall: Double?
  /// The average recall for objects of 32² to 96² square pixels.
  public let arMedium: Double?
  /// The average recall for objects from 96² square pixels on.
  public let arLarge: Double?

  /// The numbers in the order in which pycocotools prints them.
  public var values: [Double?] {
    [ap, ap50, ap75, apSmall, apMedium, apLarge, ar1, ar10, ar100, arSmall, arMedium, arLarge]
  }
}

extension DetectionAccuracy {
  /// The numbers of all categories that have objects.
  public var summary: DetectionSummary { summary(of: categories) }

  /// The numbers of one category.
  public func summary(ofCategory category: Int) -> DetectionSummary { summary(of: [category]) }

  /// How many objects of a category count, crowds left out.
  public func truthCount(ofCategory category: Int) -> Int {
    (matches[category] ?? []).reduce(0) { $0 + $1.truthCounts[0] }
  }

  private func summary(of categories: [Int]) -> DetectionSummary {
    // The range of areas and the most findings of each curve.
    let curves = [(0, 100), (1, 100), (2, 100), (3, 100), (0, 1), (0, 10)].map { range, limit in
      categories.compactMap { curve(ofCategory: $0, range: range, limit: limit) }
    }
    func mean(_ curve: Int, _ value: (Curve) -> Double) -> Double? {
      let curves = curves[curve]
      return curves.isEmpty ? nil : curves.reduce(0) { $0 + value($1) } / Double(curves.count)
    }
    func average(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    let precision: (Curve) -> Double = { average($0.precisions) }
    let recall: (Curve) -> Double = { average($0.recalls) }
    return DetectionSummary(
      ap: mean(0, precision), ap50: mean(0) { $0.precisions[0] }, ap75: mean(0) { $0.precisions[5] },
      apSmall: mean(1, precision), apMedium: mean(2, precision), apLarge: mean(3, precision),
      ar1: mean(4, recall), ar10: mean(5, recall), ar100: mean(0, recall),
      arSmall: mean(1, recall), arMedium: mean(2, recall), arLarge: mean(3, recall))
  }

  /// For each overlap: the mean precision over recalls of 0, 0.01, … 1, and the recall of all findings.
  private typealias Curve = (precisions: [Double], recalls: [Double])

  /// The curve of a category for a range of areas, with the best findings of each picture; nil if no object counts.
  private func curve(ofCategory category: Int, range: Int, limit: Int) -> Curve? {
    let pictures = (matches[category] ?? []).sorted { $0.image < $1.image }
    let truths = pictures.reduce(0) { $0 + $1.truthCounts[range] }
    guard truths > 0 else { return nil }
    let found = pictures.flatMap { $0.found.prefix(limit) }
    let order = found.indices.sorted { (found[$1].score, $0) < (found[$0].score, $1) }
    var curve: Curve = ([], [])
    for bit in Self.overlaps.indices {
      let flag = UInt16(1) << UInt16(bit)
      var (right, wrong) = (0.0, 0.0)
      var recalls: [Double] = []
      var precisions: [Double] = []
      for place in order {
        if found[place].isIgnored[range] & flag == 0 {
          if found[place].isMatched[range] & flag != 0 { right += 1 } else { wrong += 1 }
        }
        recalls.append(right / Double(truths))
        precisions.append(right / (wrong + right + Double.ulpOfOne))
      }
      // The best precision at this recall or a higher one.
      for place in precisions.indices.dropFirst().reversed() {
        precisions[place - 1] = max(precisions[place - 1], precisions[place])
      }
      var (sum, place) = (0.0, 0)
      for step in 0...100 {
        let recall = step == 100 ? 1 : Double(step) * 0.01
        while place < recalls.count, recalls[place] < recall { place += 1 }
        guard place < recalls.count else { break }
        sum += precisions[place]
      }
      curve.precisions.append(sum / 101)
      curve.recalls.append(recalls.last ?? 0)
    }
    return curve
  }
}
