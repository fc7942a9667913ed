// SPDX-License-Identifier: Apache-2.0

/// A detector's raw outputs, row by row.
struct DetectionRows {
  /// Four numbers a row: top, left, bottom, right.
  let boxes: [Float]
  /// The class of each row.
  private(set) var classes: [Float]
  /// The score of each row.
  private(set) var scores: [Float]
  /// How many rows are detections.
  let count: Int

  /// Combines the outputs of a run.
  ///
  /// - Parameters:
  ///   - objects: The model's number of objects; nil if it has none. NaN and numbers
  ///     below zero count as zero, fractions are truncated, and the number of rows is the maximum.
  ///   - isAmbiguous: Whether `classes` and `scores` may have to change places: they do where only that makes
  ///     classes of the whole numbers and scores of the fractions up to 1.
  init(
    boxes: [Float], classes: [Float], scores: [Float], objects: Float?, rowsPerObject: Int = 1,
    isAmbiguous: Bool = false
  ) {
    self.boxes = boxes
    self.classes = classes
    self.scores = scores
    let capacity = min(boxes.count / 4, classes.count, scores.count)
    if let objects {
      let limit = capacity / max(rowsPerObject, 1)
      let isWhole = objects > 0 && objects < Float(limit)
      count = isWhole ? Int(objects) * max(rowsPerObject, 1) : objects > 0 ? capacity : 0
    } else {
      count = capacity
    }
    if isAmbiguous {
      let asGiven = Self.looksLikeClasses(classes[..<count]) || Self.looksLikeScores(scores[..<count])
      let exchanged = Self.looksLikeClasses(scores[..<count]) || Self.looksLikeScores(classes[..<count])
      if exchanged, !asGiven { swap(&self.classes, &self.scores) }
    }
  }

  private static func looksLikeClasses(_ values: ArraySlice<Float>) -> Bool {
    values.contains { $0 > 1 }
  }

  private static func looksLikeScores(_ values: ArraySlice<Float>) -> Bool {
    values.contains { $0 != $0.rounded() }
  }

  /// The rows with a class that is wanted and at least that score, best first; equal scores stay in the model's
  /// order. Rows are left out if their class is not a whole number from zero on, or their box is not finite.
  ///
  /// - Parameters:
  ///   - edges: Where top, left, bottom and right stand in a box.
  ///   - limit: The maximum number of rows.
  func selected(
    edges: [Int] = [0, 1, 2, 3], calibration: ScoreCalibration? = nil, scoreThreshold: Float, limit: Int,
    isWanted: (Int) -> Bool
  ) -> [(index: Int, score: Float, box: BoundingBox)] {
    var rows = BestValues<(index: Int, score: Float, box: BoundingBox)>(limit: limit)
    for row in 0..<count {
      guard let index = Int(exactly: classes[row].rounded()), index >= 0, isWanted(index) else { continue }
      let score = calibration?.score(scores[row], of: index) ?? scores[row]
      guard score >= scoreThreshold, boxes[4 * row..<4 * row + 4].allSatisfy(\.isFinite) else { continue }
      let box = BoundingBox(
        ymin: boxes[4 * row + edges[0]], xmin: boxes[4 * row + edges[1]], ymax: boxes[4 * row + edges[2]],
        xmax: boxes[4 * row + edges[3]])
      rows.add((index, score, box), score: score)
    }
    return rows.sorted()
  }
}
