// SPDX-License-Identifier: Apache-2.0

/// Which findings of one category in a picture are objects, for each range of areas and each overlap.
struct DetectionMatches: Sendable {
  /// A finding; each number of a vector is for a range of areas, each bit for an overlap.
  struct Found: Sendable {
    let score: Double
    /// Whether it is an object.
    var isMatched = SIMD4<UInt16>()
    /// Whether it does not count.
    var isIgnored = SIMD4<UInt16>()
  }

  /// Areas in square pixels: all, small, medium, large.
  static let areas: [ClosedRange<Double>] = [0...1e10, 0...1024, 1024...9216, 9216...1e10]
  /// The most findings that count.
  static let maximumFindings = 100
  /// The threshold that replaces an overlap of 1.
  private static let almostOne = 1 - 1e-10

  /// The picture.
  let image: Int
  /// The findings, best first.
  private(set) var found: [Found]
  /// For each range of areas, how many objects are to be found.
  private(set) var truthCounts = [Int](repeating: 0, count: areas.count)

  /// Matches findings with objects of their category.
  init(image: Int, truths: [DetectionAccuracy.Truth], findings: [DetectionAccuracy.Finding]) {
    self.image = image
    let order = findings.indices.sorted { (findings[$1].score, $0) < (findings[$0].score, $1) }
    let best = order.prefix(Self.maximumFindings).map { findings[$0] }
    found = best.map { Found(score: $0.score) }
    let overlaps = best.map { finding in
      truths.map { finding.box.overlap(with: $0.box, isCrowd: $0.isCrowd) }
    }
    for (range, areas) in Self.areas.enumerated() {
      let isIgnored = truths.map { $0.isCrowd || !areas.contains($0.area) }
      truthCounts[range] = isIgnored.count { !$0 }
      // Objects that count come first.
      let sorted = truths.indices.filter { !isIgnored[$0] } + truths.indices.filter { isIgnored[$0] }
      for (bit, overlap) in DetectionAccuracy.overlaps.enumerated() {
        var isTaken = [Bool](repeating: false, count: truths.count)
        for place in best.indices {
          var least = min(overlap, Self.almostOne)
          var match: Int?
          for truth in sorted {
            if isTaken[truth], !truths[truth].isCrowd { continue }
            // An object that does not count is no better than one that does.
            if let match, !isIgnored[match], isIgnored[truth] { break }
            if overlaps[place][truth] < least { continue }
            (least, match) = (overlaps[place][truth], truth)
          }
          let flag = UInt16(1) << UInt16(bit)
          var isObject = false
          if let match {
            isTaken[match] = true
            isObject = truths[match].id != 0
            if isObject { found[place].isMatched[range] |= flag }
            if isIgnored[match] { found[place].isIgnored[range] |= flag }
          }
          if !isObject, !areas.contains(best[place].box.area) { found[place].isIgnored[range] |= flag }
        }
      }
    }
  }
}
