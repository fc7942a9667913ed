// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// YOLO's oriented boxes: one row for each cell, with center, size, class scores and an angle.
struct OrientedHead: DetectionHead {
  private let reading: LayoutReading
  private let boxUnits: BoxReading
  private let scores: ScoreReading
  private let orientation: CandidateOrientation?
  let warnings: [String]
  let pictureDefaults: PictureDefaults
  private let rows: Int
  private let columns: Int
  private let isTransposed: Bool
  private let width: Float
  private let height: Float

  private var classes: Int { columns - 5 }

  /// Box, angle and the fifteen classes of DOTA, with which such models are published.
  static let usualColumns = 20

  /// Recognizes the head of a model whose metadata, name or values say that its boxes are oriented; nil for others.
  ///
  /// - Parameter labels: The names whose number can confirm it.
  /// - Throws: `invalidArgument` if the output is square, and nothing says whether its rows or its columns are candidates.
  init?(_ prepared: PreparedModel, chosen: DetectorLayout?, labels: LabelMap?) throws(ApusError) {
    guard chosen == nil || chosen == .yoloOBB, prepared.outputs.count == 1,
      let dimensions = YOLOHead.dimensions(prepared.outputs[0].shape)
    else { return nil }
    let geometry = prepared.geometry
    func isCells(_ count: Int) -> Bool {
      CellGrid(count: count, width: geometry.width, height: geometry.height) != nil
    }
    let isSquare =
      dimensions.first == dimensions.second && dimensions.first > 5
      && (chosen != nil || isCells(dimensions.first))
    orientation =
      isSquare ? try CandidateOrientation(ofSquare: 0, side: dimensions.first, prepared) : nil
    // Exporters put candidates last.
    isTransposed =
      orientation?.isTransposed
      ?? isCells(dimensions.second) || !isCells(dimensions.first) && dimensions.second > dimensions.first
    (rows, columns) =
      isTransposed ? (dimensions.second, dimensions.first) : (dimensions.first, dimensions.second)
    guard columns > 5, chosen != nil || isCells(rows) else { return nil }
    if chosen != nil {
      reading = LayoutReading(given: .yoloOBB)
    } else if let export = prepared.export, export.task == "obb" {
      reading = LayoutReading(.yoloOBB, .exporter, "task 'obb' in \(export.fileName)")
    } else if prepared.export?.task == nil, prepared.isCalled("obb"), prepared.isCalled("yolo") {
      reading = LayoutReading(.yoloOBB, .model, "the model's name")
    } else if prepared.export?.task == nil, isTransposed,
      columns == prepared.knownClassCount(labels).map({ $0 + 5 }) ?? columns,
      prepared.hasAngles(0, rows: rows, columns: columns, isTransposed: true) == true
    {
      reading = LayoutReading(
        .yoloOBB, .model, "the last column holds values that are no scores, for a gray picture")
    } else {
      return nil
    }
    boxUnits = prepared.orientedUnits(of: 0, first: 0, perRow: isTransposed ? 1 : columns, rows: rows)
    scores = prepared.scores(of: 0, given: prepared.options.scores, usual: .probability)
    warnings = YOLOHead.warnings(prepared.outputs[0], 0) + (scores.warning.map { [$0] } ?? [])
    pictureDefaults = PictureDefaults(
      exportedBy: prepared.export, as: "obb", usual: reading.pictures(fit: .yolo, .unit))
    (width, height) = (Float(geometry.width), Float(geometry.height))
  }

  // MARK: Facts

  var layout: DetectorLayout { reading.layout }
  var reason: String { reading.reason }
  var readings: [Assumption] {
    [reading.assumption, boxUnits.assumption, scores.assumption] + (orientation.map { [$0.assumption] } ?? [])
  }
  var classCount: Int? { classes }
  var clipsBoxes: Bool { true }

  var roles: [Int: String] {
    [
      0: """
      \(rows) candidates, \(isTransposed ? "one a column" : "one a row"): center x, center y, width, height, \
      \(classes) class scores, angle
      """
    ]
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    [
      "coordinates are \(boxUnits.units == .pixel ? "pixels" : "fractions") of the input, angles radians",
      "score > \(criteria.scoreThreshold)",
      criteria.isMultiLabel ? "every class above counts" : "the best class of a candidate counts",
      """
      suppression where the probabilistic IoU with any better candidate >= \(criteria.maximumOverlap), \
      \(criteria.isClassAgnostic ? "among all classes" : "within a class"), of the best \
      \(NonMaximumSuppression.maximumCandidates) candidates
      """,
      "best first, at most \(criteria.maxResults); upright boxes are what the corners span, within the picture",
    ]
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let check = AnswerCheck(readings)
    let (perRow, perColumn) = isTransposed ? (1, rows) : (columns, 1)
    let kept = try run.withValues(of: 0) { values throws(ApusError) in
      guard values.count == rows * columns else {
        throw ApusError(
          .invalidData, "output 0 has \(values.count) values, not \(rows)×\(columns) as when prepared")
      }
      try check.refuseNaN(
        in: values, from: 4 * perColumn, rows: (rows, perRow), columns: (classes, perColumn))
      let kept = RotatedCandidate.kept(candidates(values, criteria), criteria)
      try check.refuseConstant(Set(kept.map(\.index)), rows: rows) {
        values[$0 * perRow + (4 + $1) * perColumn]
      }
      return kept
    }
    var objects: [DetectedObject] = []
    for candidate in kept { objects.append(try candidate.object(width, height, check)) }
    return objects
  }

  private func candidates(_ values: Span<Float>, _ criteria: DetectionCriteria)
    -> BestValues<RotatedCandidate>
  {
    let (perRow, perColumn) = isTransposed ? (1, rows) : (columns, 1)
    let (unitX, unitY): (Float, Float) = boxUnits.units == .pixel ? (1, 1) : (width, height)
    var found = BestValues<RotatedCandidate>(limit: NonMaximumSuppression.maximumCandidates)
    for row in 0..<rows {
      func value(_ column: Int) -> Float { values[row * perRow + column * perColumn] }
      func add(_ index: Int, _ score: Float) {
        guard criteria.categories.contains(index) else { return }
        let box = RotatedBox(
          x: value(0) * unitX, y: value(1) * unitY, width: value(2) * unitX, height: value(3) * unitY,
          angle: value(columns - 1))
        found.add(RotatedCandidate(box: box, score: score, index: index), score: score)
      }
      var best: (index: Int, score: Float) = (0, -.infinity)
      for index in 0..<classes {
        var score = value(4 + index)
        if scores.form == .logit { score = 1 / (1 + exp(-score)) }
        if criteria.isMultiLabel {
          if score > criteria.scoreThreshold { add(index, score) }
        } else if score > best.score {
          best = (index, score)
        }
      }
      if best.score > criteria.scoreThreshold { add(best.index, best.score) }
    }
    return found
  }
}

extension PreparedModel {
  /// The unit of oriented boxes: what options, quantization and exporter say, or else what the centers for a gray picture can be.
  func orientedUnits(of output: Int, first: Int, perRow: Int, rows: Int) -> BoxReading {
    let isList = export?.task == "obb" && geometry.isPlanar && perRow == 7
    let exported: (units: BoxUnits, reason: String)? =
      export?.task == "obb" ? (isList ? .pixel : .fraction, "exports with a task give them so") : nil
    let found = boxUnits(
      of: output, given: options.boxUnits, side: max(geometry.width, geometry.height), exported: exported)
    guard found.assumption.source == .guess, let values = probe(output), rows > 0,
      values.count > first + (rows - 1) * perRow
    else { return found }
    let isPixels = (0..<rows).contains { values[first + $0 * perRow] > 2 }
    let units: BoxUnits = isPixels ? .pixel : .fraction
    return BoxReading(
      units: units,
      assumption: Assumption(
        "box units", units.rawValue, .model,
        reason: "for a gray picture, centers are \(isPixels ? "" : "not ")beyond 2", option: "--box-units"))
  }
}
