// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Models that suppress by themselves: boxes, classes, scores and usually a count.
struct PostProcessedHead: DetectionHead {
  let layout = DetectorLayout.postProcessed
  let reason: String
  /// Which output is which.
  let rows: DetectionLayout
  private let calibration: ScoreCalibration?
  private let boxUnits: BoxReading
  private let scores: ScoreReading
  /// Where top, left, bottom and right stand in a box.
  private let edges: [Int]

  /// Finds the outputs; see ``DetectionLayout``.
  init(_ prepared: PreparedModel, chosen: DetectionOutputs?) throws(ApusError) {
    rows = try DetectionLayout(
      of: prepared.model, shapes: prepared.outputs.map(\.shape), metadata: prepared.metadata, chosen: chosen)
    reason = chosen == nil ? "its outputs are boxes, classes and scores" : "the options name its outputs"
    calibration = ScoreCalibration(of: prepared, output: rows.outputs.scores)
    var edges = [0, 1, 2, 3]
    if let metadata = prepared.metadata, metadata.outputs.indices.contains(rows.outputs.boxes),
      let properties = metadata.outputs[rows.outputs.boxes].boundingBoxProperties,
      [.boundaries, .unknown].contains(properties.type), Set(properties.index) == Set(edges)
    {
      // The metadata gives the places of left, top, right and bottom.
      let index = properties.index
      edges = [index[1], index[0], index[3], index[2]]
    }
    self.edges = edges
    let side = max(prepared.geometry.width, prepared.geometry.height)
    if rows.source == .model, rows.isOfOperator, prepared.options.boxUnits == nil {
      boxUnits = BoxReading(
        units: .fraction,
        assumption: Assumption(
          "box units", BoxUnits.fraction.rawValue, .model, reason: rows.reason, option: "--box-units"))
    } else {
      boxUnits = prepared.boxUnits(of: rows.outputs.boxes, given: prepared.options.boxUnits, side: side)
    }
    scores = prepared.scores(
      of: rows.outputs.scores, given: prepared.options.scores, usual: .probability)
  }

  var readings: [Assumption] {
    [
      Assumption("layout", layout.rawValue, rows.source, reason: rows.reason, option: "--layout"),
      boxUnits.assumption, scores.assumption,
    ]
  }

  var classCount: Int? { rows.classCount }

  var roles: [Int: String] {
    var roles = [
      rows.outputs.boxes: "boxes: "
        + ["top", "left", "bottom", "right"].enumerated().sorted { edges[$0.offset] < edges[$1.offset] }
        .map(\.element).joined(separator: ", ") + " in fractions of the input",
      rows.outputs.classes: "classes", rows.outputs.scores: "scores",
    ]
    if let count = rows.outputs.count { roles[count] = "the number of rows that count" }
    return roles
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    var steps: [String] = []
    if rows.isAmbiguous {
      steps.append("classes and scores change places where only that gives whole classes")
    }
    if rows.outputs.count != nil {
      steps.append(
        "the first count\(rows.rowsPerObject > 1 ? " * \(rows.rowsPerObject)" : "") rows are taken")
    }
    if let calibration { steps.append(calibration.description) }
    steps.append("score >= \(criteria.scoreThreshold), best first, at most \(criteria.maxResults)")
    return steps
  }

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let outputs = rows.outputs
    var objects: Float?
    if let count = outputs.count { objects = try run.values(of: count).first ?? 0 }
    let found = DetectionRows(
      boxes: try run.values(of: outputs.boxes), classes: try run.values(of: outputs.classes),
      scores: try run.values(of: outputs.scores), objects: objects, rowsPerObject: rows.rowsPerObject,
      isAmbiguous: rows.isAmbiguous)
    let selected = found.selected(
      edges: edges, calibration: calibration, scoreThreshold: criteria.scoreThreshold,
      limit: criteria.maxResults, isWanted: criteria.categories.contains)
    return selected.map {
      DetectedObject(index: $0.index, score: $0.score, box: $0.box)
    }
  }
}
