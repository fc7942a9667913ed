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
  private let boxOrder: BoxOrderReading
  let numbering: ClassNumbering?
  /// Whether classes are floats, or integers with steps of at most 1.
  private let areClassesExact: Bool
  private let stepWarning: String?

  /// Finds the outputs; see ``DetectionLayout``.
  static func rows(of prepared: PreparedModel, chosen: DetectionOutputs?) throws(ApusError) -> DetectionLayout
  {
    try DetectionLayout(
      of: prepared.model, shapes: prepared.outputs.map(\.shape),
      openRows: prepared.outputs.indices.filter(prepared.hasOpenRows), metadata: prepared.metadata,
      chosen: chosen)
  }

  /// Reads the outputs.
  ///
  /// - Throws: `invalidArgument` if the metadata or the options say of boxes what cannot be.
  init(
    _ prepared: PreparedModel, _ rows: DetectionLayout, chosen: DetectionOutputs?, boxOrder order: BoxOrder?
  ) throws(ApusError) {
    self.rows = rows
    reason = chosen == nil ? "its outputs are boxes, classes and scores" : "the options name its outputs"
    (calibration, calibrationWarning) = ScoreCalibration.reading(of: prepared, output: rows.outputs.scores)
    boxOrder = try BoxOrderReading(prepared, rows, given: order)
    numbering = ClassNumbering(prepared, rows)
    areClassesExact = prepared.outputs[rows.outputs.classes].type == .float32
    stepWarning = prepared.classStepWarning(rows.outputs.classes)
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
    self.order = ClassOrder(isAmbiguous: rows.isAmbiguous)
    // Behind boxes, scores are no output of their own that the graph speaks of.
    let given = prepared.options.scores
    scores =
      rows.hasScoresInBoxes
      ? LayoutReading(.postProcessed, given == nil ? .guess : .given, "").scores(.probability, given: given)
      : prepared.scores(
        of: rows.outputs.scores, tensor: rows.operatorScores, given: given, usual: .probability)
  }

  var warnings: [String] {
    [boxUnits.warning, boxOrder.warning(boxUnits.value), scores.warning, calibrationWarning, stepWarning]
      .compactMap(\.self)
  }

  var pictureDefaults: PictureDefaults {
    let names = "usual for outputs with such names, as PyTorch's exports have them"
    return switch boxOrder.origin {
    case .tensorFlow, nil: PictureDefaults()
    case .yolo: PictureDefaults(fit: .yolo, normalization: .unit, normalizesIntegers: true, reason: names)
    case .pyTorch: PictureDefaults(normalization: .unit, normalizesIntegers: true, reason: names)
    case .mmDetection:
      PictureDefaults(
        normalization: .imageNet, normalizesIntegers: true, reason: "usual for exports of MMDetection")
    }
  }

  /// TensorFlow's detectors are made for ten results.
  var defaultMaxResults: Int {
    switch boxOrder.origin {
    case .yolo, .pyTorch, .mmDetection: DetectorLayout.yoloEndToEnd.defaultMaxResults
    case .tensorFlow, nil: layout.defaultMaxResults
    }
  }
  var isUndecided: Bool { boxUnits.isOpen || order.isOpen }

  var readings: [Assumption] {
    [
      Assumption("layout", layout.rawValue, rows.source, reason: rows.reason, option: "--layout"),
      outputsReading, boxUnits.assumption, boxOrder.assumption(boxUnits.value), scores.assumption,
    ]
  }

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
    var roles = [classes: "classes", scores: "scores"]
    roles[rows.outputs.boxes] =
      "boxes: " + boxOrder.form(boxUnits.value).names.joined(separator: ", ")
      + " in \(boxUnits.value == .pixel ? "pixels" : "fractions") of the input"
      + (rows.hasScoresInBoxes ? ", and a score" : "")
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
    var counted: Float?
    if let count = outputs.count { counted = try run.values(of: count).first ?? 0 }
    let check = AnswerCheck(readings)
    // Bytes round a number that is 0.
    if let counted, !counted.isFinite || counted <= -1 {
      throw check.refusal(
        "output \(outputs.count ?? 0) has \(counted) as the number of objects, not a number from 0 on",
        "layout")
    }
    var boxes = try run.values(of: outputs.boxes)
    var numbers: [Float]
    if rows.hasScoresInBoxes {
      numbers = stride(from: 4, to: boxes.count, by: 5).map { boxes[$0] }
      boxes = boxes.indices.filter { $0 % 5 != 4 }.map { boxes[$0] }
    } else {
      numbers = try run.values(of: outputs.scores)
    }
    if areLogits { numbers = numbers.map { 1 / (1 + exp(-$0)) } }
    let found = DetectionRows(
      boxes: boxes, classes: try run.values(of: outputs.classes),
      scores: numbers, objects: counted, rowsPerObject: rows.rowsPerObject,
      order: order)
    try check.refuseNaN(in: found.scoresThatCount)
    if calibration == nil,
      let odd = found.oddClass(scoreThreshold: criteria.scoreThreshold, isExact: areClassesExact)
    {
      throw check.refusal("an answer has a class of \(odd), not a whole number from 0 on", "layout")
    }
    let selected = found.selected(
      form: boxOrder.form(.fraction), calibration: calibration, scoreThreshold: criteria.scoreThreshold,
      limit: criteria.maxResults, isWanted: criteria.categories.contains)
    var units = boxUnits.value
    if !boxUnits.isCertain,
      let shown = try BoxUnits(shownBy: selected.map { max($0.box.maxX, $0.box.maxY) }, check)
    {
      units = try boxUnits.settle(shown)
    }
    let (unitX, unitY) = units == .pixel ? (width, height) : (1, 1)
    let isTurned = boxOrder.isTurnedInPixels && units == .pixel
    let objects = selected.map { row in
      var box = row.box
      if isTurned { box = BoundingBox(minX: box.minY, minY: box.minX, maxX: box.maxY, maxY: box.maxX) }
      return DetectedObject(
        index: row.index, score: row.score,
        box: BoundingBox(
          minX: box.minX / unitX, minY: box.minY / unitY, maxX: box.maxX / unitX, maxY: box.maxY / unitY))
    }
    if boxOrder.isGuess(units), units == .pixel { try checkOrder(objects, check) }
    if rows.outputs.count == nil, !rows.isOfOperator, found.count > BestClassOutputs.maximumObjects {
      try checkSuppression(objects, check)
    }
    return objects
  }

  /// Refuses boxes that reach beyond the input as they are read, and lie within it with x and y exchanged.
  private func checkOrder(_ objects: [DetectedObject], _ check: AnswerCheck) throws(ApusError) {
    let (margin, exact): (Float, Float) = (1.1, 1.001)
    guard width != height,
      let beyond = objects.first(where: { $0.box.maxX > margin || $0.box.maxY > margin }),
      objects.allSatisfy({ $0.box.maxX * width <= exact * height && $0.box.maxY * height <= exact * width })
    else { return }
    throw check.refusal(
      """
      an answer has a box that ends at (\(beyond.box.maxX), \(beyond.box.maxY)) of the input's sides, and all lie within it with x and y \
      exchanged
      """, "box order")
  }

  /// Refuses objects of a class that cover each other nearly, which no suppression keeps. The best of them tell: each is compared with all
  /// before it.
  private func checkSuppression(_ all: [DetectedObject], _ check: AnswerCheck) throws(ApusError) {
    let objects = all.prefix(BestClassOutputs.maximumObjects)
    for (place, object) in objects.enumerated() {
      let other = objects[..<place].first {
        $0.index == object.index && $0.box != object.box && $0.box.overlap(object.box) > Self.maximumOverlap
      }
      if let other {
        throw check.refusal(
          """
          an answer has two objects of class \(object.index) that overlap by \(other.box.overlap(object.box)), and candidates before \
          suppression are read with --layout yolo-best-class
          """, "layout")
      }
    }
  }

  /// No suppression keeps boxes that overlap more.
  private static let maximumOverlap: Float = 0.9
}
