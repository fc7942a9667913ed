// SPDX-License-Identifier: Apache-2.0
import Apus

/// Rows of seven numbers of models that suppress by themselves: YOLO v7 and YOLO-NAS end to end, EfficientDet and oriented boxes; and rows
/// whose class comes first, of six or seven.
struct RowsHead: DetectionHead {
  private let reading: LayoutReading
  private let boxUnits: BoxReading
  /// Whether the caller says the unit of boxes.
  private let areUnitsGiven: Bool
  private let scores: ScoreReading
  let classCount: Int? = nil
  private let width: Float
  private let height: Float

  /// The output with the rows.
  private let output: Int
  /// The output with the number of rows that count; nil if all do.
  private let count: Int?
  /// The numbers of a row.
  private let columns: Int
  /// The numbers of a row in most layouts.
  private static let longRow = 7

  /// Recognizes `N×7`, and `N×6` with or without a count where the class comes first; nil for other outputs.
  ///
  /// - Throws: `invalidArgument` if nothing tells the score from the class.
  init?(_ prepared: PreparedModel, chosen: DetectorLayout?) throws(ApusError) {
    if let chosen, !Self.layouts.contains(chosen) { return nil }
    guard let place = Self.place(prepared), [nil, "obb"].contains(prepared.export?.task),
      let (rows, columns) = Self.matrix(prepared.outputs[place.output].shape)
    else { return nil }
    (output, count) = place
    self.columns = columns
    let isClassFirst =
      chosen == .classFirst
      || chosen == nil && (6...7).contains(columns) && prepared.isCalled("classid_score", "multiclass_nms")
    guard isClassFirst ? (6...7).contains(columns) : columns == Self.longRow && count == nil else {
      return nil
    }
    if let chosen {
      reading = LayoutReading(given: chosen)
    } else if isClassFirst {
      reading = LayoutReading(.classFirst, .model, "rows of \(columns) numbers, and their name")
    } else if let found = try Self.recognized(prepared, rows) {
      reading = found
    } else {
      return nil
    }
    boxUnits =
      reading.layout == .yoloOBBEndToEnd
      ? prepared.orientedUnits(of: output, first: 0, perRow: columns, rows: rows)
      : reading.boxUnits(.pixel, given: prepared.options.boxUnits)
    areUnitsGiven = prepared.options.boxUnits != nil
    scores = reading.scores(.probability, given: prepared.options.scores)
    (width, height) = (Float(prepared.geometry.width), Float(prepared.geometry.height))
  }

  /// The output with the rows, and that with their number; nil if there are others.
  private static func place(_ prepared: PreparedModel) -> (output: Int, count: Int?)? {
    let shapes = prepared.outputs.map(\.shape)
    if shapes.count == 1 { return (0, nil) }
    guard shapes.count == 2, let count = shapes.firstIndex(where: { $0.elementCount == 1 && $0.rank < 2 })
    else { return nil }
    return (1 - count, count)
  }

  private static func recognized(_ prepared: PreparedModel, _ rows: Int) throws(ApusError) -> LayoutReading? {
    if let export = prepared.export, export.task == "obb" {
      // Without suppression, there is a row for each cell; see `OrientedHead`.
      let isList = export.isEndToEnd == true || export.hasSuppression || rows <= 300
      return isList ? LayoutReading(.yoloOBBEndToEnd, .exporter, "task 'obb' in \(export.fileName)") : nil
    }
    let geometry = prepared.geometry
    // As many rows as cells are candidates of other heads.
    let isOfCells = [1, 3].contains { factor in
      YOLOShape.strides.contains {
        factor * YOLOShape.cells(width: geometry.width, height: geometry.height, strides: $0) == rows
      }
    }
    // A single row is rather a classifier's, unless a picture decides how many there are.
    guard !isOfCells, rows > 1 || prepared.hasOpenRows(0), rows <= maximumRows else { return nil }
    if prepared.isCalled("efficientdet") {
      return LayoutReading(.efficientDet, .model, "rows of 7 numbers, and the model's name")
    }
    if prepared.isCalled("yolov7", "yolo_v7", "yolo7") {
      return LayoutReading(.yolo7EndToEnd, .model, "rows of 7 numbers, and the model's name")
    }
    if prepared.isCalled("yolonas", "yolo_nas", "yolo-nas", "flat_predictions") {
      return LayoutReading(.yoloNASEndToEnd, .model, "rows of 7 numbers, and the model's name")
    }
    let values = prepared.probe(0) ?? []
    var possible = layouts.filter { fits(values, $0) }
    // Both have the class behind the score. EfficientDet has a list for each picture of a batch, and fills it with rows of no image.
    if possible == [.yoloNASEndToEnd, .efficientDet] {
      if hasFilling(values) {
        possible = [.efficientDet]
      } else if prepared.outputs[0].shape.rank > 2 {
        return LayoutReading(
          .efficientDet, .guess,
          "rows of 7 numbers without a class 0 in a list for each picture, as EfficientDet has them"
        )
      }
    }
    guard possible.count == 1 else {
      let queries = rows == 300 ? [(DetectorLayout.rtDETR, "center, size and 3 class scores")] : []
      throw prepared.ambiguity(of: 0, layouts.map { ($0, names($0)) } + queries)
    }
    return LayoutReading(
      possible[0], .model, "rows of 7 numbers, of which only one column can be the class: it has no fractions"
    )
  }

  private static let layouts: [DetectorLayout] = [
    .yolo7EndToEnd, .yoloNASEndToEnd, .efficientDet, .yoloOBBEndToEnd, .classFirst,
  ]
  /// More rows are candidates rather than results.
  private static let maximumRows = 1000

  /// The last dimension, and the product of the others, which may be zero.
  private static func matrix(_ shape: TensorShape) -> (rows: Int, columns: Int)? {
    guard let columns = shape.dimensions.last, columns > 0, shape.rank >= 2,
      shape.dimensions.dropLast(2).allSatisfy({ $0 == 1 })
    else { return nil }
    return (shape.elementCount / columns, columns)
  }

  private static func names(_ layout: DetectorLayout, _ columns: Int = longRow) -> String {
    switch layout {
    case .classFirst: (columns == 7 ? "image, " : "") + "class, score, left, top, right, bottom"
    case .efficientDet: "image, top, left, bottom, right, score, class"
    case .yoloNASEndToEnd: "image, left, top, right, bottom, score, class"
    case .yoloOBBEndToEnd: "center x, center y, width, height, score, class, angle"
    default: "batch, left, top, right, bottom, class, score"
    }
  }

  /// The columns of the score, of the class, and of the first number of the box.
  private static func places(_ layout: DetectorLayout, _ columns: Int = longRow) -> (
    score: Int, class: Int, box: Int
  ) {
    switch layout {
    case .efficientDet, .yoloNASEndToEnd: (5, 6, 1)
    case .yoloOBBEndToEnd: (4, 5, 0)
    case .classFirst: (columns - 5, columns - 6, columns - 4)
    default: (6, 5, 1)
    }
  }

  /// Whether all rows can be read so.
  private static func fits(_ values: [Float], _ layout: DetectorLayout) -> Bool {
    let (score, index, box) = places(layout)
    return stride(from: 0, to: values.count - values.count % longRow, by: longRow).allSatisfy { row in
      let number = values[row + index]
      guard (0...1).contains(values[row + score]), number == number.rounded() else { return false }
      if layout == .yoloOBBEndToEnd {
        return values[row + 2] >= 0 && values[row + 3] >= 0 && abs(values[row + 6]) <= .pi
      }
      // EfficientDet counts classes from 1.
      if layout == .efficientDet, values[row] >= 0, values[row + score] > 0, number < 1 { return false }
      return values[row] == values[row].rounded() && values[row + box + 2] >= values[row + box]
        && values[row + box + 3] >= values[row + box + 1]
    }
  }

  /// Whether some rows are of no image.
  private static func hasFilling(_ values: [Float]) -> Bool {
    stride(from: 0, to: values.count - values.count % longRow, by: longRow).contains { values[$0] < 0 }
  }

  // MARK: Facts

  var layout: DetectorLayout { reading.layout }
  var reason: String { reading.reason }
  var readings: [Assumption] { [reading.assumption, boxUnits.assumption, scores.assumption] }
  var clipsBoxes: Bool { layout.isYOLO }

  var pictureDefaults: PictureDefaults {
    switch layout {
    case .efficientDet:
      // The graph subtracts the mean color, so that zeros around the picture are that color.
      reading.pictures(fit: .topLeftLetterbox(fill: PixelColor(red: 124, green: 116, blue: 104)), .raw)
    case .classFirst: reading.pictures(fit: .stretch, .unit)
    default: reading.pictures(fit: .yolo, .unit)
    }
  }

  var roles: [Int: String] {
    var roles = [output: "a row for each object: \(Self.names(layout, columns))"]
    if let count { roles[count] = "the number of rows that count" }
    return roles
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    [
      boxUnits.units == .pixel
        ? "coordinates are pixels of the input" : "coordinates are fractions of the input",
      layout == .efficientDet
        ? "classes are counted from 1; score >= \(criteria.scoreThreshold)"
        : "score \(layout.isYOLO ? ">" : ">=") \(criteria.scoreThreshold)",
      "nothing is suppressed; best first, at most \(criteria.maxResults)",
    ]
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let (scorePlace, classPlace, _) = Self.places(layout, columns)
    let check = AnswerCheck(readings)
    var counted: Float?
    if let count { counted = try run.values(of: count).first ?? 0 }
    if let counted, !counted.isFinite || counted < 0 {
      throw check.refusal("an answer has \(counted) as the number of rows, not a number from 0 on", "layout")
    }
    return try run.withValues(of: output) { all throws(ApusError) in
      let rows = min(all.count / columns, counted.map { Int(min($0, Float(1 << 20))) } ?? .max)
      let values = all.extracting(first: rows * columns)
      try check.refuseNaN(in: values, from: scorePlace, rows: (rows, columns), columns: (1, 1))
      var found = BestValues<(row: Int, index: Int, score: Float)>(limit: criteria.maxResults)
      for row in stride(from: 0, to: values.count, by: columns) {
        let score = values[row + scorePlace]
        let isEnough = layout.isYOLO ? score > criteria.scoreThreshold : score >= criteria.scoreThreshold
        // A negative image or batch is the filling.
        guard isEnough, layout == .yoloOBBEndToEnd || values[row] >= 0 else { continue }
        try check.check(class: values[row + classPlace], isExact: run.outputs[output].type == .float32)
        guard
          let number = Int(exactly: values[row + classPlace].rounded())
        else { continue }
        if layout == .efficientDet, number < 1 {
          throw check.refusal("an answer has class \(number), and this layout counts them from 1", "layout")
        }
        let index = layout == .efficientDet ? number - 1 : number
        guard criteria.categories.contains(index) else { continue }
        found.add((row, index, score), score: score)
      }
      var objects: [DetectedObject] = []
      for item in found.sorted() {
        objects.append(try object(item.row, item.index, item.score, values, check))
      }
      try checkUnits(objects, check)
      return objects
    }
  }

  /// Refuses boxes in pixels if all end within the first pixel: they are fractions, as other models with the class first have them.
  private func checkUnits(_ objects: [DetectedObject], _ check: AnswerCheck) throws(ApusError) {
    guard layout == .classFirst, boxUnits.units == .pixel, !areUnitsGiven,
      !objects.isEmpty,
      objects.allSatisfy({ max($0.box.maxX * width, $0.box.maxY * height) <= 1.5 })
    else { return }
    throw check.refusal(
      "all boxes of an answer, read as pixels, end within the first one", "box units")
  }

  /// The object of a row.
  private func object(
    _ row: Int, _ index: Int, _ score: Float, _ values: Span<Float>, _ check: AnswerCheck
  ) throws(ApusError) -> DetectedObject {
    func number(_ column: Int) -> Float { values[row + column] }
    let isPixels = boxUnits.units == .pixel
    if layout == .yoloOBBEndToEnd {
      let (unitX, unitY) = isPixels ? (1, 1) : (width, height)
      let box = RotatedBox(
        x: number(0) * unitX, y: number(1) * unitY, width: number(2) * unitX, height: number(3) * unitY,
        angle: number(6))
      return try RotatedCandidate(box: box, score: score, index: index).object(width, height, check)
    }
    let (unitX, unitY) = isPixels ? (width, height) : (1, 1)
    let first = Self.places(layout, columns).box
    let (a, b, c, d) = (number(first), number(first + 1), number(first + 2), number(first + 3))
    let box =
      layout == .efficientDet
      ? BoundingBox(minX: b / unitX, minY: a / unitY, maxX: d / unitX, maxY: c / unitY)
      : BoundingBox(minX: a / unitX, minY: b / unitY, maxX: c / unitX, maxY: d / unitY)
    return DetectedObject(index: index, score: score, box: box)
  }
}
