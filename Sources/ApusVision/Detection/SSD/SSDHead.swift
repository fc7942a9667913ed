// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusSystem

/// Two outputs without suppression: a box, encoded relative to its anchor, and a score for each class.
struct SSDHead: DetectionHead {
  let layout = DetectorLayout.ssd
  let reason: String
  private let source: AssumptionSource
  private let scoreForm: Decision<ScoreForm>
  /// A warning if the model contradicts the given form of its scores; nil otherwise.
  private let givenWarning: String?
  /// The output with the boxes, four numbers each: y, x, height, width.
  let boxes: Int
  /// The output with the scores.
  let scores: Int
  private let anchors: [DetectorMetadata.Anchor]
  /// How many boxes there are.
  private let count: Int
  /// How decoded boxes are written, with the reading; nil for boxes relative to anchors.
  private let decoded: (form: BoxForm, assumption: Assumption)?
  private let columns: Int
  /// Whether the first column is the background, which is not an object.
  private let hasBackground: Bool
  private let background: Assumption
  private let xScale: Float
  private let yScale: Float
  private let widthScale: Float
  private let heightScale: Float
  private let hasExponentialSizes: Bool
  private let calibration: ScoreCalibration?
  /// Why scores are not calibrated though the metadata says how; usually nil.
  private let calibrationWarning: String?

  /// Recognizes raw heads; nil for other outputs.
  ///
  /// - Parameter labels: Tells whether there is a column for the background.
  /// - Throws: `invalidArgument` if there are no anchors for that many boxes; `malformedModel` if the metadata's anchors have scales by
  ///   which nothing can be divided.
  init?(_ prepared: PreparedModel, labels: LabelMap?, boxOrder: BoxOrder?) throws(ApusError) {
    guard let found = Self.outputs(prepared) else { return nil }
    (boxes, scores) = (found.boxes, found.scores)
    let shapes = prepared.outputs.map(\.shape)
    count = shapes[boxes].elementCount / 4
    columns = shapes[scores].elementCount / count
    let geometry = prepared.geometry
    let metadata = Self.metadata(prepared)
    let hasLogits: Bool?
    decoded = metadata == nil ? Self.decoded(prepared, boxes, given: boxOrder) : nil
    if decoded != nil {
      anchors = []
      (xScale, yScale, widthScale, heightScale) = (1, 1, 1, 1)
      (hasExponentialSizes, hasLogits) = (false, nil)
      source = .guess
      reason = "decoded boxes and scores of \(count) candidates"
    } else if let metadata, metadata.anchors.count == count {
      let scales = [metadata.xScale, metadata.yScale, metadata.widthScale, metadata.heightScale]
      guard scales.allSatisfy({ $0 > 0 && $0.isFinite }) else {
        throw ApusError(
          .malformedModel,
          """
          the metadata's options of the detector divide x, y, widths and heights by \
          \(scales.map { "\($0)" }.joined(separator: ", ")), and not by finite numbers above 0
          """)
      }
      anchors = metadata.anchors
      (xScale, yScale) = (metadata.xScale, metadata.yScale)
      (widthScale, heightScale) = (metadata.widthScale, metadata.heightScale)
      hasExponentialSizes = metadata.hasExponentialSizes
      hasLogits = metadata.hasLogits
      (source, reason) = (.model, "boxes and scores of \(count) anchors, which the metadata has")
    } else if let generated = SSDAnchors.generated(
      count: count, width: geometry.width, height: geometry.height)
    {
      anchors = generated.anchors
      (xScale, yScale, widthScale, heightScale) = (10, 10, 5, 5)
      hasExponentialSizes = true
      hasLogits = nil
      source = .guess
      reason = "boxes and scores of \(count) anchors, which are generated (\(generated.rule))"
    } else {
      throw ApusError(
        .invalidArgument,
        """
        the model has boxes and scores of \(count) anchors, but the metadata has no such anchors\
        \(metadata.map { " (\($0.anchors.count))" } ?? ""), and SSD and FPN have another number for \
        \(geometry.width) × \(geometry.height) pixels
        """)
    }
    (hasBackground, background) = Self.background(
      prepared, scores, columns: columns, labels, hasMetadata: metadata != nil)
    (calibration, calibrationWarning) = ScoreCalibration.reading(of: prepared, output: scores)
    let reading = prepared.scores(of: scores, given: prepared.options.scores, usual: .probability)
    givenWarning = reading.warning
    if prepared.options.scores == nil, let hasLogits {
      let form: ScoreForm = hasLogits ? .logit : .probability
      scoreForm = Decision(
        form,
        Assumption(
          "scores", form.rawValue, .model, reason: "the metadata's options of the detector",
          option: "--scores"))
    } else {
      scoreForm = Decision(reading.form, reading.assumption)
    }
  }

  /// Whether the first column is the background, by names, else by a sum of 1, else by the usual numbers of classes.
  private static func background(
    _ prepared: PreparedModel, _ scores: Int, columns: Int, _ labels: LabelMap?, hasMetadata: Bool
  ) -> (Bool, Assumption) {
    func reading(_ isFirst: Bool, _ source: AssumptionSource, _ reason: String) -> (Bool, Assumption) {
      (
        isFirst,
        Assumption(
          "background", isFirst ? "the first column" : "none", source, reason: reason, option: "--labels")
      )
    }
    guard columns > 1 else { return reading(false, .model, "there is one column") }
    if let labels, labels.rowCount == columns || labels.rowCount == columns - 1 {
      let first = labels.name(inRow: 0)
      let isFirst =
        labels.rowCount == columns
        ? first.map(LabelMap.isBackground) ?? true : labels.detectedOffset == 0
      return reading(isFirst, .guess, "\(labels.rowCount) labels for \(columns) columns")
    }
    if prepared.lastOperator(of: scores) == "SOFTMAX" {
      return reading(true, .model, "SOFTMAX computes a score of no object")
    }
    if prepared.sumToOne(scores, columns: columns) {
      return reading(
        true, .model, "for a gray picture, the scores of each box sum to 1, so that one is of no object")
    }
    if labels == nil, !hasMetadata, [91, 21].contains(columns) {
      return reading(
        true, .guess,
        "\(columns) columns are the classes of \(columns == 91 ? "COCO" : "Pascal VOC") and a background")
    }
    return reading(false, .guess, "usual for \(columns) columns; as many labels, or one fewer, decide")
  }

  /// How boxes that are corners for a gray picture are written; nil for boxes relative to anchors, as many of those are negative.
  private static func decoded(_ prepared: PreparedModel, _ boxes: Int, given: BoxOrder?) -> (
    form: BoxForm, assumption: Assumption
  )? {
    let isCalledSo = prepared.names(of: boxes).contains {
      $0.contains("raw_detection_boxes") && !$0.contains("enc")
    }
    var areCorners = isCalledSo
    if !areCorners, let values = prepared.probe(boxes), !values.isEmpty {
      let rows = stride(from: 0, to: values.count - 3, by: 4)
      areCorners =
        values.allSatisfy { (-0.01...1.01).contains($0) }
        && rows.allSatisfy { values[$0 + 2] >= values[$0] && values[$0 + 3] >= values[$0 + 1] }
        && 10 * rows.count { values[$0 + 2] > values[$0] && values[$0 + 3] > values[$0 + 1] } >= 9
          * (values.count / 4)
    }
    guard areCorners else { return nil }
    // Decoded boxes with the anchors of TensorFlow's detection API begin at the top, those of others mostly at the left.
    let geometry = prepared.geometry
    let isOfTensorFlow =
      isCalledSo
      || SSDAnchors.generated(
        count: prepared.outputs[boxes].shape.elementCount / 4, width: geometry.width, height: geometry.height)
        != nil
    let form = given.map(BoxForm.init) ?? (isOfTensorFlow ? .topLeftBottomRight : .leftTopRightBottom)
    let (source, reason): (AssumptionSource, String) =
      if given != nil {
        (.given, "the options")
      } else if isCalledSo {
        (.model, "TensorFlow's detection API has them so")
      } else {
        (
          .guess,
          "usual for boxes that are corners from 0 to 1 for a gray picture, \(isOfTensorFlow ? "with" : "without") TensorFlow's anchors"
        )
      }
    return (
      form,
      Assumption(
        "box order", form.names.joined(separator: ", "), source, reason: reason, option: "--box-order")
    )
  }

  private static func metadata(_ prepared: PreparedModel) -> DetectorMetadata? {
    guard let bytes = prepared.metadata?.custom[DetectorMetadata.entryName] else { return nil }
    return try? DetectorMetadata(bytes)
  }

  /// Boxes have four columns; where both have, names tell, else boxes come first.
  private static func outputs(_ prepared: PreparedModel) -> (boxes: Int, scores: Int)? {
    let tensors = prepared.outputs
    guard tensors.count == 2 else { return nil }
    let names = tensors.indices.map { index in
      let metadata = prepared.metadata?.outputs ?? []
      return (metadata.indices.contains(index) ? metadata[index].name : "").lowercased() + " "
        + tensors[index].name.lowercased()
    }
    func fits(_ boxes: Int, _ scores: Int) -> Bool {
      let (shape, other) = (tensors[boxes].shape, tensors[scores].shape)
      guard shape.rank >= 2, other.rank >= 2, shape.dimensions.last == 4, let columns = other.dimensions.last
      else { return false }
      let count = shape.elementCount / 4
      return count > 1 && columns > 0 && other.elementCount / columns == count
        && other.elementCount == count * columns
    }
    let orders = [(0, 1), (1, 0)].filter { fits($0.0, $0.1) }
    let isNamed = orders.first { order in
      ["box", "loc"].contains { names[order.0].contains($0) && !names[order.1].contains($0) }
    }
    guard let order = isNamed ?? orders.first else { return nil }
    return (order.0, order.1)
  }

  // MARK: Facts

  var warnings: [String] { [scoreForm.warning, givenWarning, calibrationWarning].compactMap(\.self) }
  var isUndecided: Bool { scoreForm.isOpen && calibration == nil }

  var readings: [Assumption] {
    [
      Assumption("layout", layout.rawValue, source, reason: reason, option: "--layout"),
      decoded == nil
        ? Assumption("box units", BoxUnits.fraction.rawValue, source, reason: "so are the anchors")
        : Assumption(
          "box units", BoxUnits.fraction.rawValue, .guess, reason: "so are corners for a gray picture"),
      scoreForm.assumption, background,
    ] + (decoded.map { [$0.assumption] } ?? [])
  }

  var classCount: Int? { columns - (hasBackground ? 1 : 0) }

  var roles: [Int: String] {
    [
      boxes: decoded.map { "\(count) boxes: \($0.form.names.joined(separator: ", "))" }
        ?? "y, x, height, width of \(count) boxes, relative to anchors",
      scores: "\(columns) scores a box" + (hasBackground ? ", the first of the background" : ""),
    ]
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    var steps =
      decoded != nil
      ? ["boxes are as the model gives them"]
      : [
        "center = (y / \(yScale) * anchor height + anchor y, x / \(xScale) * anchor width + anchor x)",
        hasExponentialSizes
          ? "size = (exp(height / \(heightScale)) * anchor height, exp(width / \(widthScale)) * anchor width)"
          : "size = (height / \(heightScale) * anchor height, width / \(widthScale) * anchor width)",
      ]
    if scoreForm.value == .logit { steps.append("score = 1 / (1 + exp(-value))") }
    if let calibration { steps.append(calibration.description) }
    steps += [
      (criteria.isMultiLabel ? "every class counts" : "the best class of a box counts")
        + ": score >= \(criteria.scoreThreshold)",
      """
      suppression where IoU > \(criteria.maximumOverlap) \
      \(criteria.isClassAgnostic ? "among all classes" : "within a class"); best first, at most \(criteria.maxResults)
      """,
    ]
    return steps
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let encoded = try run.values(of: boxes)
    let found = try run.withValues(of: scores) { values throws(ApusError) in
      guard values.count == count * columns, encoded.count == count * 4 else {
        throw ApusError(.invalidData, "the outputs have other shapes than when prepared")
      }
      try AnswerCheck(readings).refuseNaN(in: values, from: 0, rows: (1, 1), columns: (values.count, 1))
      return try candidates(encoded, values, criteria, areLogits: try areLogits(values, criteria))
    }
    let kept = NonMaximumSuppression(
      maximumOverlap: criteria.maximumOverlap, isClassAgnostic: criteria.isClassAgnostic,
      limit: criteria.maxResults
    ).kept(found)
    return kept.map {
      DetectedObject(
        index: $0.index, score: $0.score,
        box: BoundingBox(minX: $0.x1, minY: $0.y1, maxX: $0.x2, maxY: $0.y2))
    }
  }

  /// Whether scores are logits. Where nothing in the file says so, values that count decide: those beyond any rounding of 1
  /// can be nothing else.
  private func areLogits(_ values: Span<Float>, _ criteria: DetectionCriteria) throws(ApusError) -> Bool {
    guard scoreForm.isOpen, calibration == nil else { return scoreForm.value == .logit }
    var greatest = -Float.infinity
    for index in 0..<values.count where values[index] > greatest { greatest = values[index] }
    guard greatest >= criteria.scoreThreshold else { return scoreForm.value == .logit }
    return try scoreForm.settle(greatest > Self.minimumLogit ? .logit : .probability) == .logit
  }

  /// A value that no probability has, however it is rounded.
  private static let minimumLogit: Float = 1.5

  private func candidates(
    _ encoded: [Float], _ values: Span<Float>, _ criteria: DetectionCriteria, areLogits: Bool
  ) throws(ApusError) -> BestValues<Candidate> {
    let first = hasBackground ? 1 : 0
    var bestRows = [Int](repeating: 0, count: columns)
    var found = NonMaximumSuppression.collection()
    for row in 0..<count {
      var best: (index: Int, score: Float) = (0, -.infinity)
      for column in first..<columns where criteria.categories.contains(column - first) {
        var score = values[row * columns + column]
        if areLogits { score = 1 / (1 + exp(-score)) }
        if let calibration { score = calibration.score(score, of: column - first) }
        if criteria.isMultiLabel {
          if score >= criteria.scoreThreshold { add(row, column - first, score, encoded, &found) }
        } else if score > best.score {
          best = (column - first, score)
        }
      }
      if best.score >= criteria.scoreThreshold, best.score > -.infinity {
        bestRows[best.index + first] += 1
        add(row, best.index, best.score, encoded, &found)
      }
    }
    // No picture has one object nearly everywhere.
    if criteria.scoreThreshold >= Self.minimumTelling, count >= Self.minimumConstant,
      let column = bestRows.firstIndex(where: { 10 * $0 >= 9 * count })
    {
      throw AnswerCheck(readings).refusal(
        "class \(column - first) is the best in \(bestRows[column]) of \(count) boxes, as a background is",
        "background", "scores",
        "layout")
    }
    return found
  }

  /// From that minimum score on, a class that is best nearly everywhere speaks against the reading.
  private static let minimumTelling: Float = 0.1
  /// How many boxes must agree.
  private static let minimumConstant = 16

  private func add(
    _ row: Int, _ index: Int, _ score: Float, _ encoded: [Float], _ found: inout BestValues<Candidate>
  ) {
    if let decoded {
      let box = decoded.form.box(encoded[4 * row..<4 * row + 4])
      found.add(
        Candidate(
          x1: box.minX, y1: box.minY, x2: box.maxX, y2: box.maxY, score: score, index: index, row: row),
        score: score)
      return
    }
    let anchor = anchors[row]
    let y = encoded[4 * row] / yScale * anchor.height + anchor.y
    let x = encoded[4 * row + 1] / xScale * anchor.width + anchor.x
    var height = encoded[4 * row + 2] / heightScale
    var width = encoded[4 * row + 3] / widthScale
    if hasExponentialSizes { (height, width) = (exp(height), exp(width)) }
    height *= anchor.height
    width *= anchor.width
    let candidate = Candidate(
      x1: x - width / 2, y1: y - height / 2, x2: x + width / 2, y2: y + height / 2, score: score,
      index: index, row: row)
    found.add(candidate, score: score)
  }
}
