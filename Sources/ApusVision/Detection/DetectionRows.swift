// SPDX-License-Identifier: Apache-2.0

/// A detector's raw outputs, row by row.
struct DetectionRows {
  /// Four numbers a row.
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
  ///   - objects: The model's number of objects, a finite number; nil if it has none. Numbers below zero count as zero, fractions are
  ///     truncated, and the number of rows is the maximum.
  ///   - order: Whether `classes` and `scores` change places.
  init(
    boxes: [Float], classes: [Float], scores: [Float], objects: Float?, rowsPerObject: Int = 1,
    order: ClassOrder = ClassOrder(isAmbiguous: false)
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
    if order.isExchanged(classes: classes[..<count], scores: scores[..<count]) {
      swap(&self.classes, &self.scores)
    }
  }

  /// The scores of the rows that are detections.
  var scoresThatCount: [Float] { Array(scores[..<count]) }

  /// The class of a row with at least that score, if it is far from a whole number from 0 on; nil if there is none.
  ///
  /// - Parameter isExact: Whether classes are floats; integers with coarse steps may be rounded.
  func oddClass(scoreThreshold: Float, isExact: Bool) -> Float? {
    for row in 0..<count where scores[row] >= scoreThreshold {
      let number = classes[row]
      guard let index = Int(exactly: number.rounded()), index >= 0,
        !isExact || abs(number - number.rounded()) <= 0.1
      else {
        return number
      }
    }
    return nil
  }

  /// The rows with a class that is wanted and at least that score, best first; equal scores stay in the model's
  /// order. Rows are left out if their class is not a whole number from zero on.
  ///
  /// - Parameters:
  ///   - form: What the numbers of a box are.
  ///   - limit: The maximum number of rows.
  func selected(
    form: BoxForm = .topLeftBottomRight, calibration: ScoreCalibration? = nil, scoreThreshold: Float,
    limit: Int,
    isWanted: (Int) -> Bool
  ) -> [(index: Int, score: Float, box: BoundingBox)] {
    var rows = BestValues<(index: Int, score: Float, box: BoundingBox)>(limit: limit)
    for row in 0..<count {
      guard let index = Int(exactly: classes[row].rounded()), index >= 0, isWanted(index) else { continue }
      let score = calibration?.score(scores[row], of: index) ?? scores[row]
      guard score >= scoreThreshold else { continue }
      rows.add((index, score, form.box(boxes[4 * row..<4 * row + 4])), score: score)
    }
    return rows.sorted()
  }
}
