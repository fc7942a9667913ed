// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Reads candidates out of a YOLO output; coordinates become pixels of the input.
struct YOLODecoder {
  let shape: YOLOShape
  /// The input's size.
  let width: Float
  let height: Float
  /// Whether scores are logits.
  var areLogits = false

  private var perRow: Int { shape.isTransposed ? 1 : shape.columns }
  private var perColumn: Int { shape.isTransposed ? shape.rows : 1 }

  /// Some columns of a row.
  func columns(_ row: Int, _ first: Int, _ count: Int, _ values: Span<Float>) -> [Float] {
    (first..<min(first + count, shape.columns)).map { values[row * perRow + $0 * perColumn] }
  }

  /// A class of the candidates whose score is the same in every row of the output, which no model gives; nil for none.
  func constantClass(of candidates: [Candidate], _ values: Span<Float>) -> (index: Int, score: Float)? {
    guard shape.layout != .yoloEndToEnd, shape.rows >= Self.minimumConstant else { return nil }
    for index in Set(candidates.map(\.index)) where (0..<shape.classes).contains(index) {
      let start = (shape.firstClass + index) * perColumn
      let score = values[start]
      if (1..<shape.rows).allSatisfy({ values[start + $0 * perRow] == score }) { return (index, score) }
    }
    return nil
  }

  /// Whether every candidate can have corners instead of center and size: of boxes in all cells, many a size is less than its center.
  func areCorners(_ values: Span<Float>) -> Bool {
    shape.rows >= Self.minimumConstant
      && (0..<shape.rows).allSatisfy { row in
        let start = row * perRow
        return values[start + 2 * perColumn] >= values[start]
          && values[start + 3 * perColumn] >= values[start + perColumn]
      }
  }

  /// How many rows must agree.
  private static let minimumConstant = 16

  /// Refuses scores that are not numbers, and classes of rows that count which are no classes.
  ///
  /// - Parameter isExact: Whether the output holds floats.
  func check(_ values: Span<Float>, _ threshold: Float, isExact: Bool, _ check: AnswerCheck) throws(ApusError)
  {
    // Objectness comes before classes, and a list has one score.
    let count = shape.layout == .yoloEndToEnd ? 1 : shape.firstClass - 4 + shape.classes
    try check.refuseNaN(
      in: values, from: 4 * perColumn, rows: (shape.rows, perRow), columns: (count, perColumn))
    guard shape.layout == .yoloEndToEnd else { return }
    for row in 0..<shape.rows where probability(values[row * perRow + 4 * perColumn]) > threshold {
      try check.check(class: values[row * perRow + 5 * perColumn], isExact: isExact)
    }
  }

  /// A score as a probability.
  func probability(_ value: Float) -> Float { areLogits ? 1 / (1 + exp(-value)) : value }

  /// The value that a probability has in the output.
  private func value(_ probability: Float) -> Float {
    guard areLogits else { return probability }
    return probability <= 0 ? -.infinity : probability >= 1 ? .infinity : log(probability / (1 - probability))
  }

  /// The candidates to keep, best first.
  ///
  /// - Parameter isPixels: Whether positions are pixels already.
  func candidates(_ values: Span<Float>, isPixels: Bool, _ criteria: DetectionCriteria) -> [Candidate] {
    let (unitX, unitY): (Float, Float) = isPixels ? (1, 1) : (width, height)
    let isSuppressed = shape.layout == .yolo5 || shape.layout == .yolo8
    var found =
      isSuppressed ? NonMaximumSuppression.collection() : BestValues<Candidate>(limit: criteria.maxResults)
    func add(_ row: Int, _ index: Int, _ score: Float) {
      guard criteria.categories.contains(index) else { return }
      let box = columns(row, 0, 4, values)
      let (a, b, c, d) = (box[0] * unitX, box[1] * unitY, box[2] * unitX, box[3] * unitY)
      found.add(
        shape.layout == .yolo10Raw || shape.layout == .yoloEndToEnd
          ? Candidate(x1: a, y1: b, x2: c, y2: d, score: score, index: index, row: row)
          : Candidate(
            x1: a - c / 2, y1: b - d / 2, x2: a + c / 2, y2: b + d / 2, score: score, index: index, row: row),
        score: score)
    }
    switch shape.layout {
    case .yoloEndToEnd: scanRows(values, criteria.scoreThreshold, add)
    case .yolo5: scanWithObjectness(values, criteria, add)
    default: scanClasses(values, criteria, add)
    }
    guard isSuppressed else { return found.sorted() }
    return NonMaximumSuppression(
      maximumOverlap: criteria.maximumOverlap, isClassAgnostic: criteria.isClassAgnostic,
      limit: criteria.maxResults, movesClasses: true
    ).kept(found)
  }

  /// Scans rows with a score and a class.
  private func scanRows(_ values: Span<Float>, _ threshold: Float, _ add: (Int, Int, Float) -> Void) {
    for row in 0..<shape.rows {
      let start = row * perRow
      let score = probability(values[start + 4 * perColumn])
      guard score > threshold, let index = Int(exactly: values[start + 5 * perColumn].rounded()), index >= 0
      else { continue }
      add(row, index, score)
    }
  }

  /// Rows whose objectness comes first, and multiplies the scores.
  private func scanWithObjectness(
    _ values: Span<Float>, _ criteria: DetectionCriteria, _ add: (Int, Int, Float) -> Void
  ) {
    let threshold = criteria.scoreThreshold
    let first = shape.firstClass
    for row in 0..<shape.rows {
      let start = row * perRow
      let objectness = probability(values[start + 4 * perColumn])
      guard objectness > threshold else { continue }
      var best: (index: Int, score: Float) = (0, -.infinity)
      for index in 0..<shape.classes {
        let score = probability(values[start + (first + index) * perColumn]) * objectness
        if criteria.isMultiLabel, shape.classes > 1 {
          if score > threshold { add(row, index, score) }
        } else if score > best.score {
          best = (index, score)
        }
      }
      if best.score > threshold { add(row, best.index, best.score) }
    }
  }

  /// Rows with a score for each class; memory is read in its order.
  private func scanClasses(
    _ values: Span<Float>, _ criteria: DetectionCriteria, _ add: (Int, Int, Float) -> Void
  ) {
    let threshold = value(criteria.scoreThreshold)
    let first = shape.firstClass
    if criteria.isMultiLabel, shape.classes > 1 {
      for row in 0..<shape.rows {
        for index in 0..<shape.classes {
          let score = values[row * perRow + (first + index) * perColumn]
          if score > threshold { add(row, index, probability(score)) }
        }
      }
      return
    }
    var scores = [Float](repeating: -.infinity, count: shape.rows)
    var classes = [Int32](repeating: 0, count: shape.rows)
    if shape.isTransposed {
      for index in 0..<shape.classes {
        let start = (first + index) * perColumn
        for row in 0..<shape.rows {
          let score = values[start + row]
          if score > scores[row] {
            scores[row] = score
            classes[row] = Int32(truncatingIfNeeded: index)
          }
        }
      }
    } else {
      for row in 0..<shape.rows {
        let start = row * perRow + first
        for index in 0..<shape.classes {
          let score = values[start + index]
          if score > scores[row] {
            scores[row] = score
            classes[row] = Int32(truncatingIfNeeded: index)
          }
        }
      }
    }
    for row in 0..<shape.rows where scores[row] > threshold {
      add(row, Int(classes[row]), probability(scores[row]))
    }
  }
}
