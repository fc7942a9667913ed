// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Boxes and a score of each class for each of them, or the best class and its score, decoded by the model: YOLO-NAS, exports of
/// YOLO v4 with decoded boxes, models of Qualcomm AI Hub, and detection transformers (DETR, RT-DETR, D-FINE, RF-DETR).
struct BoxScoreHead: DetectionHead {
  private let reading: LayoutReading
  private let boxUnits: BoxReading
  private let scores: ScoreReading
  private let boxes: Columns
  private let values: Columns
  /// Whether boxes are left, top, right, bottom, or else center and size.
  private let isCorners: Bool
  private let rows: Int
  /// The columns of scores; the last one of DETR is no object.
  private let columns: Int
  /// The columns that are classes.
  private let classes: Int
  /// The output with the best class of each row; nil if each class has a score.
  private let bestClasses: Int?
  /// Whether that output holds floats.
  private let isExact: Bool
  private let masks: MaskOutputs?
  private let stepWarning: String?
  let pictureDefaults: PictureDefaults
  private let width: Float
  private let height: Float

  /// Where the numbers of a row lie.
  struct Columns: Sendable {
    let output: Int
    let first: Int
    let perRow: Int
    let perColumn: Int
    let count: Int

    subscript(_ row: Int, _ column: Int) -> Int { first + row * perRow + column * perColumn }
  }

  static let layouts: [DetectorLayout] = [.yoloNAS, .yoloBestClass, .yolo4Boxes, .rtDETR, .detr]

  /// Recognizes such outputs; nil for others.
  ///
  /// - Parameter labelCount: The number of rows of the labels; nil without labels.
  /// - Throws: `invalidArgument` if nothing tells which of the kinds it is.
  init?(_ prepared: PreparedModel, chosen: DetectorLayout?, labelCount: Int?) throws(ApusError) {
    if let chosen, !Self.layouts.contains(chosen) { return nil }
    guard let found = BoxScoreRecognition(prepared, chosen: chosen) else { return nil }
    let reading: LayoutReading
    if let chosen {
      reading = LayoutReading(given: chosen)
    } else if let layout = try found.layout() {
      reading = layout
    } else {
      return nil
    }
    self.reading = reading
    (boxes, values, rows, columns) = (found.boxes, found.scores, found.rows, found.columns)
    (isCorners, boxUnits) = found.boxForm(reading)
    scores = found.scoreForm(reading)
    (classes, bestClasses) = (found.classCount(reading, labelCount: labelCount), found.bestClasses)
    isExact = found.bestClasses.map { prepared.outputs[$0].type == .float32 } ?? true
    masks = found.masks
    stepWarning = found.bestClasses.flatMap(prepared.classStepWarning)
    if let reason = found.imageNetReason(reading) {
      var defaults = reading.pictures(fit: .stretch, .imageNet)
      defaults.reason = reason
      pictureDefaults = defaults
    } else {
      let isLetterbox = reading.layout == .yoloNAS || reading.layout == .yoloBestClass
      pictureDefaults = reading.pictures(fit: isLetterbox ? .yolo : .stretch, .unit)
    }
    let geometry = prepared.geometry
    (width, height) = (Float(geometry.width), Float(geometry.height))
  }

  // MARK: Facts

  var layout: DetectorLayout { reading.layout }
  var reason: String { reading.reason }
  var readings: [Assumption] { [reading.assumption, boxUnits.assumption, scores.assumption] }
  var warnings: [String] { [scores.warning, stepWarning].compactMap(\.self) }
  var classCount: Int? { bestClasses == nil ? classes : nil }
  var clipsBoxes: Bool { true }

  private var isSuppressed: Bool { layout.isYOLO }

  var roles: [Int: String] {
    let form = isCorners ? "left, top, right, bottom" : "center x, center y, width, height"
    if let bestClasses {
      return maskRoles.merging([
        boxes.output: "\(rows) boxes: \(form)", values.output: "the best score of each box",
        bestClasses: "the best class of each box",
      ]) { $1 }
    }
    let last = classes < columns ? ", the last of no object" : ""
    if boxes.output == values.output {
      return [boxes.output: "\(rows) rows: \(form), \(columns) class scores\(last)"]
    }
    return maskRoles.merging([
      boxes.output: "\(rows) boxes: \(form)", values.output: "\(columns) class scores of each box\(last)",
    ]) { $1 }
  }

  private var maskRoles: [Int: String] {
    guard let masks else { return [:] }
    let prototypes = masks.prototypes
    let order = prototypes.isPlanar ? "channels first" : "channels last"
    let form = "\(prototypes.height)×\(prototypes.width), \(order)"
    guard let coefficients = masks.coefficients else {
      return [prototypes.output: "the mask of each box, \(form)"]
    }
    return [
      coefficients.output: "\(prototypes.count) mask coefficients of each box",
      prototypes.output: "\(prototypes.count) mask prototypes, \(form)",
    ]
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    var steps = [
      "coordinates are \(boxUnits.units == .pixel ? "pixels" : "fractions") of the input",
      isCorners ? "boxes are corners" : "corners are the center less and plus half the size",
    ]
    if scores.form == .logit {
      steps.append(
        layout == .detr ? "scores = softmax(values), the last left out" : "score = 1 / (1 + exp(-value))")
    }
    if layout == .rtDETR, classes < columns { steps.append("the last score is left out") }
    switch layout {
    case .rtDETR:
      steps.append(
        "every class of a box counts: score >= \(criteria.scoreThreshold), the best \(rows) of all")
    case .detr: steps.append("the best class of a box counts: score >= \(criteria.scoreThreshold)")
    default:
      steps.append("score > \(criteria.scoreThreshold)")
      steps.append(
        criteria.isMultiLabel && bestClasses == nil
          ? "every class above counts" : "the best class of a box counts")
      steps.append(
        """
        suppression where IoU > \(criteria.maximumOverlap) \
        \(criteria.isClassAgnostic ? "among all classes" : "within a class"), of the best \
        \(NonMaximumSuppression.maximumCandidates) candidates
        """)
    }
    steps.append("best first, at most \(criteria.maxResults); boxes end at the picture's edges")
    if let masks {
      let mask = masks.coefficients == nil ? "its channel" : "(coefficients @ prototypes)"
      steps.append(
        "mask: \(mask) > \(masks.threshold == 0 ? "0" : "\(masks.threshold)"), enlarged bilinearly, inside the box"
      )
    }
    return steps
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let limit = isSuppressed ? NonMaximumSuppression.maximumCandidates : min(criteria.maxResults, rows)
    var selected = BestValues<(row: Int, index: Int, score: Float)>(limit: limit)
    let bestOfRows = try classNumbers(in: run)
    try run.withValues(of: values.output) { numbers throws(ApusError) in
      try check(numbers.count, values)
      try AnswerCheck(readings).refuseNaN(
        in: numbers, from: values.first, rows: (rows, values.perRow), columns: (columns, values.perColumn))
      try select(numbers, bestOfRows, criteria, &selected)
      let found = Set(selected.sorted().map { bestOfRows == nil ? $0.index : 0 })
      try AnswerCheck(readings).refuseConstant(found, rows: rows) { numbers[values[$0, $1]] }
    }
    let found = try run.withValues(of: boxes.output) { numbers throws(ApusError) in
      try check(numbers.count, boxes)
      return candidates(selected.sorted(), numbers)
    }
    let kept: [Candidate]
    if isSuppressed {
      var collected = NonMaximumSuppression.collection()
      for candidate in found { collected.add(candidate, score: candidate.score) }
      kept = NonMaximumSuppression(
        maximumOverlap: criteria.maximumOverlap, isClassAgnostic: criteria.isClassAgnostic,
        limit: criteria.maxResults
      ).kept(collected)
    } else {
      kept = found
    }
    var objects = kept.map {
      DetectedObject(
        index: $0.index, score: $0.score,
        box: BoundingBox(minX: $0.x1 / width, minY: $0.y1 / height, maxX: $0.x2 / width, maxY: $0.y2 / height)
      )
    }
    try addMasks(to: &objects, rows: kept.map(\.row), run)
    return objects
  }

  private func addMasks(to objects: inout [DetectedObject], rows: [Int], _ run: ModelRun) throws(ApusError) {
    guard let masks, !objects.isEmpty else { return }
    var numbers: [Float] = []
    if let places = masks.coefficients {
      numbers = try run.values(of: places.output)
      try check(numbers.count, places)
    }
    var left = MaskPrototypes.budget
    try run.withValues(of: masks.prototypes.output) { values in
      for (index, row) in rows.enumerated() {
        let (prototypes, box) = (masks.prototypes, objects[index].box)
        if let places = masks.coefficients {
          let coefficients = (0..<prototypes.count).map { numbers[places[row, $0]] }
          objects[index].mask = prototypes.patch(coefficients, in: box, values, left: &left)
        } else {
          objects[index].mask = prototypes.patch(
            ofChannel: row, above: masks.threshold, in: box, values, left: &left)
        }
      }
    }
  }

  private func check(_ count: Int, _ columns: Columns) throws(ApusError) {
    guard count == columns.count else {
      throw ApusError(
        .invalidData,
        "output \(columns.output) has \(count) values, not \(columns.count) as when prepared")
    }
  }

  /// The best class of each row; nil if each class has a score.
  private func classNumbers(in run: ModelRun) throws(ApusError) -> [Float]? {
    guard let bestClasses else { return nil }
    let numbers = try run.values(of: bestClasses)
    guard numbers.count == rows else {
      throw ApusError(
        .invalidData, "output \(bestClasses) has \(numbers.count) values, not \(rows) as when prepared")
    }
    return numbers
  }

  private func select(
    _ numbers: Span<Float>, _ bestOfRows: [Float]?, _ criteria: DetectionCriteria,
    _ selected: inout BestValues<(row: Int, index: Int, score: Float)>
  ) throws(ApusError) {
    let isStrict = layout.isYOLO
    let everyClass = layout == .rtDETR || isSuppressed && criteria.isMultiLabel && bestOfRows == nil
    let check = AnswerCheck(readings)
    func isEnough(_ score: Float) -> Bool {
      isStrict ? score > criteria.scoreThreshold : score >= criteria.scoreThreshold
    }
    var row = [Float](repeating: 0, count: columns)
    for number in 0..<rows {
      for column in 0..<columns { row[column] = numbers[values[number, column]] }
      if scores.form == .logit {
        if layout == .detr {
          softmax(&row)
        } else {
          for column in row.indices { row[column] = 1 / (1 + exp(-row[column])) }
        }
      }
      var best: (index: Int, score: Float) = (0, -.infinity)
      for index in 0..<classes {
        if everyClass {
          if isEnough(row[index]), criteria.categories.contains(index) {
            selected.add((number, index, row[index]), score: row[index])
          }
        } else if row[index] > best.score {
          best = (index, row[index])
        }
      }
      if let bestOfRows, isEnough(best.score) {
        try check.check(class: bestOfRows[number], isExact: isExact)
        guard let index = Int(exactly: bestOfRows[number].rounded()) else { continue }
        best.index = index
      }
      if isEnough(best.score), best.score > -.infinity, criteria.categories.contains(best.index) {
        selected.add((number, best.index, best.score), score: best.score)
      }
    }
  }

  private func softmax(_ values: inout [Float]) {
    let greatest = values.max() ?? 0
    var sum: Float = 0
    for index in values.indices {
      values[index] = exp(values[index] - greatest)
      sum += values[index]
    }
    for index in values.indices { values[index] /= sum }
  }

  private func candidates(_ selected: [(row: Int, index: Int, score: Float)], _ numbers: Span<Float>)
    -> [Candidate]
  {
    let (unitX, unitY): (Float, Float) = boxUnits.units == .pixel ? (1, 1) : (width, height)
    return selected.map { row, index, score in
      let (a, b) = (numbers[boxes[row, 0]] * unitX, numbers[boxes[row, 1]] * unitY)
      let (c, d) = (numbers[boxes[row, 2]] * unitX, numbers[boxes[row, 3]] * unitY)
      return isCorners
        ? Candidate(x1: a, y1: b, x2: c, y2: d, score: score, index: index, row: row)
        : Candidate(
          x1: a - c / 2, y1: b - d / 2, x2: a + c / 2, y2: b + d / 2, score: score, index: index, row: row)
    }
  }
}
