// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// YOLOX and YOLO v6: one row for each cell, with a box, objectness and class scores.
struct YOLOXHead: DetectionHead {
  private let reading: LayoutReading
  let warnings: [String]
  private let rows: Int
  private let columns: Int
  private let isTransposed: Bool
  private let grid: CellGrid
  private let boxUnits: BoxReading
  private let scores: ScoreReading
  private let orientation: CandidateOrientation?
  private let width: Float
  private let height: Float

  private var classes: Int { columns - 5 }

  /// Recognizes a head; nil if the output is not that of one.
  ///
  /// - Parameters:
  ///   - chosen: The kind that the caller says it is.
  ///   - labels: The names whose number can decide.
  /// - Throws: `invalidArgument` if several kinds fit.
  init?(_ prepared: PreparedModel, chosen: DetectorLayout?, labels: LabelMap?) throws(ApusError) {
    guard chosen == nil || [.yolo6, .yolox, .yoloxRaw].contains(chosen) else { return nil }
    guard prepared.outputs.count == 1, let dimensions = YOLOHead.dimensions(prepared.outputs[0].shape),
      let shape = try YOLOXRecognition(prepared, output: 0, dimensions: dimensions)
    else { return nil }
    (rows, columns, isTransposed, grid) = (shape.rows, shape.columns, shape.isTransposed, shape.grid)
    orientation = shape.orientation
    if let chosen {
      reading = LayoutReading(given: chosen)
    } else if let found = try shape.layout(labels: labels) {
      reading = found
    } else {
      return nil
    }
    boxUnits = reading.boxUnits(.pixel, given: prepared.options.boxUnits)
    scores = reading.scores(.probability, given: prepared.options.scores)
    warnings = YOLOHead.warnings(prepared.outputs[0], 0)
    (width, height) = (Float(prepared.geometry.width), Float(prepared.geometry.height))
  }

  // MARK: Facts

  var classCount: Int? { classes }
  var clipsBoxes: Bool { true }

  var layout: DetectorLayout { reading.layout }
  var reason: String { reading.reason }
  var readings: [Assumption] {
    [reading.assumption, boxUnits.assumption, scores.assumption] + (orientation.map { [$0.assumption] } ?? [])
  }
  var pictureDefaults: PictureDefaults {
    layout == .yolo6
      ? reading.pictures(fit: .yolo, .unit) : reading.pictures(fit: .yolox, .raw, channels: .bgr)
  }

  var roles: [Int: String] {
    let box =
      layout == .yoloxRaw
      ? "x and y from the cell, logarithms of width and height" : "center x, center y, width, height"
    return [
      0: """
      \(rows) candidates, \(isTransposed ? "one a column" : "one a row"): \(box), objectness, \
      \(classes) class scores
      """
    ]
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    let strides = grid.strides.map(String.init).joined(separator: ", ")
    return [
      layout == .yoloxRaw
        ? "center = (offset + cell) * stride, size = exp(value) * stride, for the strides \(strides)"
        : "coordinates are pixels of the input",
      "corners are the center less and plus half the size",
      "score = objectness * class score > \(criteria.scoreThreshold)",
      criteria.isMultiLabel ? "every class above counts" : "the best class of a candidate counts",
      """
      suppression where IoU > \(criteria.maximumOverlap) \
      \(criteria.isClassAgnostic ? "among all classes" : "within a class"), of the best \
      \(NonMaximumSuppression.maximumCandidates) candidates
      """,
      "best first, at most \(criteria.maxResults); boxes end at the picture's edges",
    ]
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let (perRow, perColumn) = isTransposed ? (1, rows) : (columns, 1)
    let kept = try run.withValues(of: 0) { values throws(ApusError) in
      guard values.count == rows * columns else {
        throw ApusError(
          .invalidData, "output 0 has \(values.count) values, not \(rows)×\(columns) as when prepared")
      }
      let check = AnswerCheck(readings)
      try check.refuseNaN(
        in: values, from: 4 * perColumn, rows: (rows, perRow), columns: (1 + classes, perColumn))
      let kept = NonMaximumSuppression(
        maximumOverlap: criteria.maximumOverlap, isClassAgnostic: criteria.isClassAgnostic,
        limit: criteria.maxResults
      ).kept(candidates(values, criteria))
      try check.refuseConstant(Set(kept.map(\.index)), rows: rows) {
        values[$0 * perRow + (5 + $1) * perColumn]
      }
      return kept
    }
    return kept.map {
      DetectedObject(
        index: $0.index, score: $0.score,
        box: BoundingBox(
          minX: $0.x1 / width, minY: $0.y1 / height, maxX: $0.x2 / width, maxY: $0.y2 / height))
    }
  }

  private func candidates(_ values: Span<Float>, _ criteria: DetectionCriteria) -> BestValues<Candidate> {
    let (perRow, perColumn) = isTransposed ? (1, rows) : (columns, 1)
    var found = NonMaximumSuppression.collection()
    for row in 0..<rows {
      let start = row * perRow
      let objectness = values[start + 4 * perColumn]
      guard objectness > 0 else { continue }
      var best: (index: Int, score: Float) = (0, -.infinity)
      for index in 0..<classes {
        let score = values[start + (5 + index) * perColumn] * objectness
        if criteria.isMultiLabel {
          if score > criteria.scoreThreshold { add(row, index, score, values, criteria, &found) }
        } else if score > best.score {
          best = (index, score)
        }
      }
      if best.score > criteria.scoreThreshold { add(row, best.index, best.score, values, criteria, &found) }
    }
    return found
  }

  private func add(
    _ row: Int, _ index: Int, _ score: Float, _ values: Span<Float>, _ criteria: DetectionCriteria,
    _ found: inout BestValues<Candidate>
  ) {
    guard criteria.categories.contains(index) else { return }
    let (perRow, perColumn) = isTransposed ? (1, rows) : (columns, 1)
    var (x, y) = (values[row * perRow], values[row * perRow + perColumn])
    var (width, height) = (values[row * perRow + 2 * perColumn], values[row * perRow + 3 * perColumn])
    if layout == .yoloxRaw {
      let cell = grid.cell(row)
      (x, y) = ((x + cell.x) * cell.stride, (y + cell.y) * cell.stride)
      (width, height) = (exp(width) * cell.stride, exp(height) * cell.stride)
    }
    found.add(
      Candidate(
        x1: x - width / 2, y1: y - height / 2, x2: x + width / 2, y2: y + height / 2, score: score,
        index: index, row: row), score: score)
  }
}
