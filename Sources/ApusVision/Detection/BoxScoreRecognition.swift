// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Finds boxes with class scores among a model's outputs, and tells the kinds of such models apart: by the number of boxes, and by
/// what holds for every picture.
struct BoxScoreRecognition {
  let prepared: PreparedModel
  let boxes: BoxScoreHead.Columns
  let scores: BoxScoreHead.Columns
  let rows: Int
  let columns: Int
  /// The output with the best class of each row; nil if each class has a score.
  let bestClasses: Int?
  /// The masks beside them; nil if there are none.
  let masks: MaskOutputs?

  /// The numbers of queries that transformers are published with.
  static let queryCounts = [100, 300, 500, 900]
  private static let maximumClasses = 1 << 16

  /// Two outputs with a box and scores for each row, in any order, or one with both, if it has as many rows as a transformer has queries;
  /// nil for others.
  init?(_ prepared: PreparedModel, chosen: DetectorLayout?) {
    self.prepared = prepared
    let shapes = prepared.outputs.map(\.shape)
    if chosen == nil || chosen == .yoloBestClass, let outputs = BestClassOutputs(prepared) {
      (rows, columns, bestClasses) = (outputs.rows, 1, outputs.classes)
      boxes = .init(output: outputs.boxes, first: 0, perRow: 4, perColumn: 1, count: 4 * rows)
      scores = .init(output: outputs.scores, first: 0, perRow: 1, perColumn: 1, count: rows)
      masks = MaskOutputs(
        prepared, rows: rows, besides: [outputs.boxes, outputs.scores, outputs.classes])
      return
    }
    guard chosen != .yoloBestClass else { return nil }
    bestClasses = nil
    if shapes.count == 1 {
      guard chosen == nil || chosen == .rtDETR || chosen == .detr, let last = shapes[0].dimensions.last,
        shapes[0].rank >= 2, (7...Self.maximumClasses).contains(last)
      else { return nil }
      rows = shapes[0].elementCount / last
      columns = last - 4
      // Seventeen points of a pose are 57 columns as well.
      guard rows > 0, shapes[0].dimensions[shapes[0].rank - 2] == rows,
        chosen != nil || rows == 300 && last != 57 && [nil, "detect"].contains(prepared.export?.task)
      else { return nil }
      let count = shapes[0].elementCount
      boxes = .init(output: 0, first: 0, perRow: last, perColumn: 1, count: count)
      scores = .init(output: 0, first: 4, perRow: last, perColumn: 1, count: count)
      masks = nil
      return
    }
    guard let (first, second) = Self.pair(prepared) else { return nil }
    let names = [first, second].map {
      prepared.name(of: $0).lowercased() + " " + prepared.outputs[$0].name.lowercased()
    }
    let words = ["box", "loc", "dets"]
    let isNamed = words.contains { names[1].contains($0) && !names[0].contains($0) }
    let isOpen =
      shapes[first] == shapes[second] && !words.contains { names[0].contains($0) || names[1].contains($0) }
    let isSwapped = isNamed || isOpen && Self.areQueries(second, first, prepared)
    for (box, score) in isSwapped ? [(second, first), (first, second)] : [(first, second), (second, first)] {
      // Boxes and scores are mostly written alike; PP-YOLOE has the scores of a class together, but not the boxes.
      for (isTransposed, areScoresTransposed) in [(false, false), (true, true), (false, true), (true, false)]
      {
        guard let (rows, four) = Self.matrix(shapes[box], isTransposed), four == 4, rows > 1 else { continue }
        let classes: Int
        if let (others, columns) = Self.matrix(shapes[score], areScoresTransposed), others == rows {
          classes = columns
        } else if shapes[score].elementCount == rows {
          classes = 1
        } else {
          continue
        }
        guard (1...Self.maximumClasses).contains(classes) else { continue }
        func columns(_ output: Int, _ count: Int, _ isTransposed: Bool) -> BoxScoreHead.Columns {
          .init(
            output: output, first: 0, perRow: isTransposed ? 1 : count, perColumn: isTransposed ? rows : 1,
            count: rows * count)
        }
        (self.rows, self.columns) = (rows, classes)
        (boxes, scores) = (columns(box, 4, isTransposed), columns(score, classes, areScoresTransposed))
        masks =
          MaskOutputs(prepared, rows: rows, besides: [box, score])
          ?? MaskOutputs(queries: rows, of: prepared, besides: [box, score])
        // A third output is masks, or this is something else.
        guard shapes.count != 3 || masks != nil else { return nil }
        return
      }
    }
    return nil
  }

  /// The two outputs of a model, or the two beside prototypes and coefficients or a map of masks; nil for others.
  private static func pair(_ prepared: PreparedModel) -> (Int, Int)? {
    let shapes = prepared.outputs.map(\.shape)
    if shapes.count == 2 { return (0, 1) }
    if shapes.count == 3, let map = shapes.firstIndex(where: { $0.rank == 4 && $0.elementCount > 1 << 10 }) {
      let others = shapes.indices.filter { $0 != map }
      return others.allSatisfy { shapes[$0].rank < 4 } ? (others[0], others[1]) : nil
    }
    guard shapes.count == 4, let map = shapes.firstIndex(where: { $0.rank == 4 && $0.elementCount > 1 << 10 })
    else {
      return nil
    }
    let channels = shapes[map].dimensions
    for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] where one != map && other != map {
      // The rest are coefficients for as many rows as there are boxes.
      guard let rest = shapes.indices.first(where: { ![map, one, other].contains($0) }) else { continue }
      let boxes = [one, other].first { shapes[$0].rank >= 2 && shapes[$0].dimensions.contains(4) }
      guard let boxes else { continue }
      let rows = shapes[boxes].elementCount / 4
      let pair = shapes[rest].dimensions.drop { $0 == 1 }
      if pair.count == 2, pair.contains(rows), channels.contains(shapes[rest].elementCount / max(rows, 1)),
        !pair.contains(4)
      {
        return (one, other)
      }
    }
    return nil
  }

  /// Rows and columns of a shape whose other dimensions are 1.
  private static func matrix(_ shape: TensorShape, _ isTransposed: Bool) -> (rows: Int, columns: Int)? {
    var dimensions = shape.dimensions
    guard dimensions.count >= 2, shape.elementCount > 0 else { return nil }
    if isTransposed {
      while dimensions.count > 2, dimensions.first == 1 { dimensions.removeFirst() }
      return dimensions.count == 2 ? (dimensions[1], dimensions[0]) : nil
    }
    let columns = dimensions[dimensions.count - 1]
    let rows = shape.elementCount / columns
    return dimensions.dropLast().contains(rows) ? (rows, columns) : nil
  }

  /// Whether only the first of two outputs with four columns can be the boxes of a transformer's queries, which are fractions.
  private static func areQueries(_ boxes: Int, _ scores: Int, _ prepared: PreparedModel) -> Bool {
    let shape = prepared.outputs[boxes].shape
    guard shape.dimensions.last == 4, queryCounts.contains(shape.elementCount / 4) else { return false }
    func areFractions(_ output: Int) -> Bool {
      prepared.probe(output)?.allSatisfy { (-0.01...1.01).contains($0) } ?? false
    }
    return areFractions(boxes) && !areFractions(scores)
  }

  // MARK: The layout

  /// The layout that the number of rows indicates; nil if no such head has that many.
  ///
  /// - Throws: `invalidArgument` if nothing tells a sigmoid from a softmax.
  func layout() throws(ApusError) -> LayoutReading? {
    if bestClasses != nil {
      return BestClassOutputs(prepared)?.reason(prepared).map { LayoutReading(.yoloBestClass, .guess, $0) }
    }
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    guard prepared.metadata?.custom[DetectorMetadata.entryName] == nil,
      SSDAnchors.generated(count: rows, width: width, height: height) == nil
    else { return nil }
    let isOneOutput = boxes.output == scores.output
    if !isOneOutput {
      for strides in YOLOShape.strides {
        let cells = YOLOShape.cells(width: width, height: height, strides: strides)
        if rows == cells {
          return LayoutReading(.yoloNAS, .guess, "boxes and scores for each cell of strides \(strides)")
        }
        if rows == 3 * cells {
          return LayoutReading(
            .yolo4Boxes, .guess, "three boxes with scores for each cell of strides \(strides)")
        }
      }
    }
    let hasQueryMasks = masks.map { $0.coefficients == nil } ?? false
    guard Self.queryCounts.contains(rows) || hasQueryMasks else { return nil }
    if let reason = isOtherTransformer ? "the model's name" : rfDETRReason {
      return LayoutReading(.rtDETR, .model, "\(rows) boxes with scores, and \(reason)")
    }
    if rows == 300, columns != 92, !hasQueryMasks {
      return LayoutReading(.rtDETR, .guess, "300 boxes with scores, as many as RT-DETR has queries")
    }
    if rows == 100, columns == 92, !hasQueryMasks {
      return LayoutReading(.detr, .guess, "100 queries and 92 classes, as DETR for COCO has them")
    }
    throw prepared.ambiguity(
      of: scores.output,
      [(.rtDETR, "a sigmoid of \(columns) classes"), (.detr, "a softmax of \(columns - 1) classes and none")])
  }

  /// The columns that COCO's numbers of classes, 1 to 90, take.
  private static let cocoNumbers = 91

  /// Whether the model calls itself a transformer whose columns are all classes.
  private var isOtherTransformer: Bool {
    prepared.isCalled("rtdetr", "rt-detr", "rt_detr", "dfine", "d-fine", "deim")
  }

  /// Why a transformer is RF-DETR; nil for others.
  private var rfDETRReason: String? {
    if isOtherTransformer { return nil }
    if prepared.isCalled("rf-detr", "rfdetr", "rf_detr") { return "the model's name" }
    func isNamed(_ output: Int, _ word: String) -> Bool {
      prepared.names(of: output).contains { $0.contains(word) }
    }
    if isNamed(boxes.output, "dets"), isNamed(scores.output, "labels") {
      return "outputs named dets and labels, as those of RF-DETR"
    }
    return nil
  }

  /// The number of classes with a score; the last column may be no object.
  ///
  /// - Parameter labelCount: The number of rows of the labels; nil without labels.
  func classCount(_ reading: LayoutReading, labelCount: Int?) -> Int {
    // Of RF-DETR with COCO's numbers, or with a name for each column, the last column is a class.
    let hasNoObject =
      reading.layout == .detr
      || reading.layout == .rtDETR && rfDETRReason != nil && columns > 1 && columns != Self.cocoNumbers
        && labelCount != columns
    return hasNoObject ? columns - 1 : columns
  }

  /// Why pictures have ImageNet's mean and deviation; nil if they do not.
  func imageNetReason(_ reading: LayoutReading) -> String? {
    switch reading.layout {
    case .detr: "usual for detr"
    case .rtDETR where rfDETRReason != nil: "usual for RF-DETR"
    case .rtDETR where columns == Self.cocoNumbers:
      "usual for \(columns) columns, the numbers of COCO, as RF-DETR and Deformable DETR have them"
    default: nil
    }
  }

  // MARK: Values that hold for every picture

  private func probed(_ place: BoxScoreHead.Columns) -> [Float]? {
    prepared.probe(place.output).flatMap { $0.count == place.count ? $0 : nil }
  }

  /// Whether boxes are corners, and their unit.
  func boxForm(_ reading: LayoutReading) -> (isCorners: Bool, BoxReading) {
    let given = prepared.options.boxUnits
    switch reading.layout {
    case .rtDETR, .detr:
      let (width, height) = (prepared.geometry.width, prepared.geometry.height)
      let found = prepared.boxUnits(of: boxes.output, given: given, side: max(width, height))
      let isProven = given != nil && found.assumption.source == .model
      return (false, isProven ? found : reading.boxUnits(.fraction, given: given))
    default: break
    }
    guard let values = probed(boxes) else {
      return (reading.layout != .yolo4Boxes, reading.boxUnits(.pixel, given: given))
    }
    // Of boxes in all cells, most have a center beyond their size, and some a pixel that is no fraction. Of corners, a few may be
    // in the wrong order where there is nothing to see.
    let crossed = (0..<rows).count {
      values[boxes[$0, 2]] < values[boxes[$0, 0]] || values[boxes[$0, 3]] < values[boxes[$0, 1]]
    }
    let isCorners = crossed <= rows / 10
    let isPixels = (0..<rows).contains { values[boxes[$0, 0]] > 2 || values[boxes[$0, 1]] > 2 }
    let units: BoxUnits = isPixels ? .pixel : .fraction
    let reading = BoxReading(
      units: given ?? units,
      assumption: Assumption(
        "box units", (given ?? units).rawValue, given == nil ? .model : .given,
        reason: given == nil ? "the boxes of all cells, for a gray picture" : "the options",
        option: "--box-units"))
    return (isCorners, reading)
  }

  /// The form of the scores: by options, graph, quantization or exporter, or else by the values for a gray
  /// picture.
  func scoreForm(_ reading: LayoutReading) -> ScoreReading {
    let isTransformer = reading.layout == .rtDETR || reading.layout == .detr
    let usual: ScoreForm = isTransformer ? .logit : .probability
    let found = prepared.scores(of: scores.output, given: prepared.options.scores, usual: usual)
    guard found.assumption.source == .guess, let values = probed(scores) else { return found }
    let all = (0..<rows).lazy.flatMap { row in (0..<columns).lazy.map { values[scores[row, $0]] } }
    let isProbable = all.allSatisfy { (-0.01...1.01).contains($0) }
    // Some logits are negative. Otherwise, the answers will be refused.
    guard isProbable || all.contains(where: { $0 < -0.01 }) else { return found }
    let form: ScoreForm = isProbable ? .probability : .logit
    return ScoreReading(
      form: form,
      assumption: Assumption(
        "scores", form.rawValue, .model,
        reason: "for a gray picture, \(isProbable ? "all are within" : "some are outside") 0 to 1",
        option: "--scores"))
  }
}
