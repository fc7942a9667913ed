// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusSystem

/// Models that suppress by themselves: boxes, classes, scores and usually a count.
struct PostProcessedHead: DetectionHead {
  let layout = DetectorLayout.postProcessed
  let reason: String
  /// Which output is which.
  let rows: DetectionLayout
  private let calibration: ScoreCalibration?
  /// Why scores are not calibrated though the metadata says how; usually nil.
  private let calibrationWarning: String?
  private let boxUnits: Decision<BoxUnits>
  private let scores: ScoreReading
  /// Whether classes and scores change places; nil until an answer tells.
  private let order: ClassOrder
  private let width: Float
  private let height: Float
  /// How boxes are written, unless that is open.
  private let form: BoxForm
  /// Whether nothing says how boxes are written, so that those in pixels are left, top, right, bottom.
  private let isFormOpen: Bool

  /// Finds the outputs; see ``DetectionLayout``.
  static func rows(of prepared: PreparedModel, chosen: DetectionOutputs?) throws(ApusError) -> DetectionLayout
  {
    try DetectionLayout(
      of: prepared.model, shapes: prepared.outputs.map(\.shape), metadata: prepared.metadata, chosen: chosen)
  }

  /// Reads the outputs.
  ///
  /// - Throws: `invalidArgument` if the metadata says of boxes what cannot be.
  init(_ prepared: PreparedModel, _ rows: DetectionLayout, chosen: DetectionOutputs?) throws(ApusError) {
    self.rows = rows
    reason = chosen == nil ? "its outputs are boxes, classes and scores" : "the options name its outputs"
    (calibration, calibrationWarning) = ScoreCalibration.reading(of: prepared, output: rows.outputs.scores)
    let properties = prepared.description(of: rows.outputs.boxes)?.boundingBoxProperties
    form = try BoxForm(properties, isOfOperator: rows.isOfOperator)
    // TensorFlow's exports count their objects, or call their boxes so.
    let name = prepared.name(of: rows.outputs.boxes).lowercased()
    isFormOpen =
      properties == nil && !rows.isOfOperator && rows.outputs.count == nil
      && !["detection", "location"].contains(where: name.contains)
    let geometry = prepared.geometry
    (width, height) = (Float(geometry.width), Float(geometry.height))
    if rows.isOfOperator {
      // By the operator's definition, whatever is given: see `BaseOptions.check(_:)`.
      boxUnits = Decision(
        .fraction,
        Assumption(
          "box units", BoxUnits.fraction.rawValue, .model, reason: rows.reason, option: "--box-units"))
    } else {
      let units = prepared.boxUnits(
        of: rows.outputs.boxes, given: prepared.options.boxUnits, side: max(geometry.width, geometry.height))
      boxUnits = Decision(units.units, units.assumption)
    }
    order = ClassOrder(isAmbiguous: rows.isAmbiguous)
    scores = prepared.scores(
      of: rows.outputs.scores, tensor: rows.operatorScores, given: prepared.options.scores,
      usual: .probability)
  }

  var warnings: [String] { [boxUnits.warning, scores.warning, calibrationWarning].compactMap(\.self) }
  var isUndecided: Bool { boxUnits.isOpen || order.isOpen }

  var readings: [Assumption] {
    [
      Assumption("layout", layout.rawValue, rows.source, reason: rows.reason, option: "--layout"),
      outputsReading, boxUnits.assumption, scores.assumption,
    ] + (isFormOpen ? [formReading] : [])
  }

  private var formReading: Assumption {
    let isPixel = boxUnits.value == .pixel
    return Assumption(
      "box order", shownForm.names.joined(separator: ", "), .guess,
      reason: "usual for boxes in \(isPixel ? "pixels" : "fractions") without a count")
  }

  private var shownForm: BoxForm { isFormOpen && boxUnits.value == .pixel ? .leftTopRightBottom : form }

  /// The outputs of classes and of scores, as decided so far.
  private var classesAndScores: (classes: Int, scores: Int) {
    let outputs = rows.outputs
    return order.shown == true ? (outputs.scores, outputs.classes) : (outputs.classes, outputs.scores)
  }

  private var outputsReading: Assumption {
    let (classes, scores) = classesAndScores
    let reason =
      if !rows.isAmbiguous {
        rows.reason
      } else if order.shown == nil {
        "classes follow boxes that come first, and else come last; the first answer that tells decides"
      } else {
        "the numbers of an answer: whole ones are classes"
      }
    return Assumption(
      "classes and scores", "classes in output \(classes), scores in output \(scores)", rows.source,
      reason: reason)
  }

  var classCount: Int? { rows.classCount }

  var roles: [Int: String] {
    let (classes, scores) = classesAndScores
    var roles = [
      rows.outputs.boxes: "boxes: "
        + shownForm.names.joined(separator: ", ")
        + " in \(boxUnits.value == .pixel ? "pixels" : "fractions") of the input",
      classes: "classes", scores: "scores",
    ]
    if let count = rows.outputs.count { roles[count] = "the number of rows that count" }
    return roles
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    var steps: [String] = []
    if rows.isAmbiguous {
      steps.append(
        "classes and scores change places if only that gives whole classes; the first answer that tells decides"
      )
    }
    if rows.outputs.count != nil {
      steps.append(
        "the first count\(rows.rowsPerObject > 1 ? " * \(rows.rowsPerObject)" : "") rows are taken")
    }
    if areLogits { steps.append("score = 1 / (1 + exp(-value))") }
    if let calibration { steps.append(calibration.description) }
    steps.append("score >= \(criteria.scoreThreshold), best first, at most \(criteria.maxResults)")
    return steps
  }

  /// Whether scores have to become probabilities first.
  private var areLogits: Bool { scores.form == .logit && !rows.isAmbiguous && calibration == nil }

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let outputs = rows.outputs
    var objects: Float?
    if let count = outputs.count { objects = try run.values(of: count).first ?? 0 }
    let check = AnswerCheck(readings)
    // Bytes round a number that is 0.
    if let objects, !objects.isFinite || objects <= -1 {
      throw check.refusal(
        "output \(outputs.count ?? 0) has \(objects) as the number of objects, not a number from 0 on",
        "layout")
    }
    var numbers = try run.values(of: outputs.scores)
    if areLogits { numbers = numbers.map { 1 / (1 + exp(-$0)) } }
    let found = DetectionRows(
      boxes: try run.values(of: outputs.boxes), classes: try run.values(of: outputs.classes),
      scores: numbers, objects: objects, rowsPerObject: rows.rowsPerObject,
      order: order)
    try check.refuseNaN(in: found.scoresThatCount)
    if calibration == nil, let odd = found.oddClass(scoreThreshold: criteria.scoreThreshold) {
      throw check.refusal("an answer has a class of \(odd), not a whole number from 0 on", "layout")
    }
    let selected = found.selected(
      form: form, calibration: calibration, scoreThreshold: criteria.scoreThreshold,
      limit: criteria.maxResults, isWanted: criteria.categories.contains)
    var units = boxUnits.value
    if !boxUnits.isCertain,
      let shown = try BoxUnits(shownBy: selected.map { max($0.box.maxX, $0.box.maxY) }, check)
    {
      units = try boxUnits.settle(shown)
    }
    let (unitX, unitY) = units == .pixel ? (width, height) : (1, 1)
    let isTurned = isFormOpen && units == .pixel
    return selected.map { row in
      var box = row.box
      if isTurned { box = BoundingBox(minX: box.minY, minY: box.minX, maxX: box.maxY, maxY: box.maxX) }
      return DetectedObject(
        index: row.index, score: row.score,
        box: BoundingBox(
          minX: box.minX / unitX, minY: box.minY / unitY, maxX: box.maxX / unitX, maxY: box.maxY / unitY))
    }
  }
}
