// SPDX-License-Identifier: Apache-2.0

/// A box that competes with others; coordinates are pixels of the input.
struct Candidate {
  var x1: Float
  var y1: Float
  var x2: Float
  var y2: Float
  var score: Float
  var index: Int
  /// The row of the model's output that it is from.
  var row: Int
}

/// Greedy non-maximum suppression: of boxes that overlap too much, the best stays.
struct NonMaximumSuppression {
  /// The maximum number of candidates that are compared; the best ones.
  static let maximumCandidates = 30_000
  /// YOLO moves boxes of different classes apart by this many pixels, so that they do not meet; float32 then rounds the
  /// coordinates of high classes.
  static let classOffset: Float = 7680

  /// An intersection over union above this suppresses.
  var maximumOverlap: Float
  /// Whether boxes compete with those of other classes.
  var isClassAgnostic: Bool
  /// The maximum number of boxes.
  var limit: Int
  /// Whether classes are kept apart by ``classOffset`` rather than by comparing them.
  var movesClasses = false

  /// Where candidates are collected.
  static func collection() -> BestValues<Candidate> { BestValues(limit: maximumCandidates) }

  /// The boxes to keep, best first; equal scores stay in order. Arithmetic is that of the common implementations: float32,
  /// a sum of the areas less the intersection, no epsilon.
  func kept(_ candidates: consuming BestValues<Candidate>) -> [Candidate] {
    var kept: [Candidate] = []
    var moved: [(x1: Float, y1: Float, x2: Float, y2: Float, area: Float, index: Int)] = []
    for candidate in candidates.sorted() {
      guard kept.count < limit else { break }
      let offset = isClassAgnostic || !movesClasses ? 0 : Float(candidate.index) * Self.classOffset
      let group = isClassAgnostic || movesClasses ? 0 : candidate.index
      let (x1, y1) = (candidate.x1 + offset, candidate.y1 + offset)
      let (x2, y2) = (candidate.x2 + offset, candidate.y2 + offset)
      let area = (x2 - x1) * (y2 - y1)
      let isSuppressed = moved.contains { other in
        guard other.index == group else { return false }
        let width = max(min(x2, other.x2) - max(x1, other.x1), 0)
        let height = max(min(y2, other.y2) - max(y1, other.y1), 0)
        let shared = width * height
        return shared / (other.area + area - shared) > maximumOverlap
      }
      if isSuppressed { continue }
      kept.append(candidate)
      moved.append((x1, y1, x2, y2, area, group))
    }
    return kept
  }
}
