// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Raw heads of YOLO v2, v3, v4, v5 and v7: an output for each grid, with a few anchors in each cell.
struct AnchorHead: DetectionHead {
  private let reading: LayoutReading
  private let scores: ScoreReading
  private let anchors: YOLOAnchors
  private let grids: [AnchorGrid]
  private let classes: Int
  private let width: Float
  private let height: Float

  /// Recognizes two or three maps of the input's grids, and one if it is asked for; nil for other outputs.
  ///
  /// - Throws: `invalidArgument` if nothing tells which of YOLO's versions they are of, or anchors are given that do not fit.
  init?(
    _ prepared: PreparedModel, chosen: DetectorLayout?, anchors given: [Float]?, labels: LabelMap?
  ) throws(ApusError) {
    if let chosen, !YOLOAnchors.layouts.contains(chosen) { return nil }
    let geometry = prepared.geometry
    guard let strides = Self.strides(prepared, isOne: chosen == .yolo2) else { return nil }
    let perCell = try Self.anchorCount(given, grids: strides.count)
    var grids: [AnchorGrid] = []
    for stride in strides {
      let found = prepared.outputs.indices.lazy.compactMap {
        AnchorGrid(
          prepared.outputs[$0].shape, output: $0, stride: stride, anchors: perCell, width: geometry.width,
          height: geometry.height)
      }.first
      guard let found else { return nil }
      grids.append(found)
    }
    guard Set(grids.map(\.output)).count == grids.count, Set(grids.map(\.columns)).count == 1 else {
      return nil
    }
    self.grids = grids
    classes = grids[0].columns - 5
    (width, height) = (Float(geometry.width), Float(geometry.height))
    if let chosen {
      reading = LayoutReading(given: chosen)
    } else {
      reading = try Self.recognized(prepared, grids, perCell, labels)
    }
    guard let anchors = YOLOAnchors(reading.layout, stride: strides[0], given: given),
      anchors.levels.count == grids.count
    else {
      return nil
    }
    self.anchors = anchors
    scores = prepared.scores(of: grids[0].output, given: prepared.options.scores, usual: .logit)
  }

  /// The strides of the outputs, the finest first; nil if their number is not that of a known model.
  private static func strides(_ prepared: PreparedModel, isOne: Bool) -> [Int]? {
    guard isOne else {
      return prepared.outputs.count == 3 ? [8, 16, 32] : prepared.outputs.count == 2 ? [16, 32] : nil
    }
    guard prepared.outputs.count == 1 else { return nil }
    let sides = Set(prepared.outputs[0].shape.dimensions)
    let stride = [32, 16, 8].first { sides.contains((prepared.geometry.width + $0 - 1) / $0) }
    return stride.map { [$0] }
  }

  /// The largest side of an anchor, in pixels of the input.
  private static let maximumAnchorSide: Float = 65_536

  /// How many anchors a cell has: three, or what is given.
  private static func anchorCount(_ given: [Float]?, grids: Int) throws(ApusError) -> Int {
    guard let given else { return grids == 1 ? 5 : 3 }
    guard !given.isEmpty, given.count.isMultiple(of: 2 * grids), given.count <= 2 * 16 * grids,
      given.allSatisfy({ $0 > 0 && $0 <= maximumAnchorSide })
    else {
      throw ApusError(
        .invalidArgument,
        """
        anchors are given as \(given.count) numbers, not a width and height above 0 and up to \(Int(maximumAnchorSide)) for each of \
        at most 16 anchors of \(grids) grids
        """)
    }
    return given.count / (2 * grids)
  }

  private static func recognized(
    _ prepared: PreparedModel, _ grids: [AnchorGrid], _ perCell: Int, _ labels: LabelMap?
  ) throws(ApusError) -> LayoutReading {
    let isTiny = grids.count == 2
    let named: [(DetectorLayout, [String])] =
      isTiny
      ? [(.yolo3Tiny, ["yolov3", "yolo_v3", "yolo3"]), (.yolo4Tiny, ["yolov4", "yolo_v4", "yolo4"])]
      : [
        (.yolo3, ["yolov3", "yolo_v3", "yolo3"]), (.yolo4, ["yolov4", "yolo_v4", "yolo4"]),
        (.yolo5Raw, ["yolov5", "yolo5"]), (.yolo7Raw, ["yolov7", "yolo7"]),
      ]
    let words = prepared.words
    let found = named.filter { $0.1.contains(where: words.contains) }
    if found.count == 1 {
      return LayoutReading(found[0].0, .model, "maps of \(grids.count) grids, and the model's name")
    }
    let classes = grids[0].columns - 5
    let (output, channels) = (grids[0].output, perCell * grids[0].columns)
    // A name of a background may be among those of the classes.
    if let known = prepared.knownClassCount(labels), abs(known - classes) > 1 {
      throw prepared.contradiction(
        of: output, "\(perCell) anchors with \(classes) classes each", names: known, columns: channels)
    }
    throw prepared.ambiguity(
      of: output,
      named.map {
        (
          $0.0,
          "\($0.0 == .yolo5Raw || $0.0 == .yolo7Raw ? "2 · sigmoid" : "sigmoid and exp") of \(classes) classes"
        )
      }, others: prepared.distributions(columns: channels).map { [$0] } ?? [])
  }

  // MARK: Facts

  var layout: DetectorLayout { reading.layout }
  var reason: String { reading.reason }
  var readings: [Assumption] { [reading.assumption, scores.assumption] }
  var warnings: [String] { scores.warning.map { [$0] } ?? [] }
  var classCount: Int? { classes }
  var clipsBoxes: Bool { true }

  var pictureDefaults: PictureDefaults {
    switch layout {
    case .yolo3, .yolo3Tiny:
      reading.pictures(fit: .letterbox(fill: PixelColor(red: 128, green: 128, blue: 128)), .unit)
    case .yolo2, .yolo4, .yolo4Tiny: reading.pictures(fit: .stretch, .unit)
    default: reading.pictures(fit: .yolo, .unit)
    }
  }

  var roles: [Int: String] {
    Dictionary(
      zip(grids, anchors.levels).map { grid, level in
        let sizes = level.anchors.map { "\(Int($0.width))×\(Int($0.height))" }.joined(separator: ", ")
        return (
          grid.output,
          """
          \(grid.width)×\(grid.height) cells of stride \(level.stride) with the anchors \(sizes): x, y, width, height, \
          objectness, \(classes) class scores
          """
        )
      }
    ) { first, _ in first }
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    let reaches = anchors.levels.map { "\($0.reach)" }.joined(separator: ", ")
    return [
      scores.form == .logit
        ? "v = sigmoid(value) but for sizes\(layout == .yolo2 ? ", and a softmax of classes" : "")"
        : "v = value",
      "center = (cell + v * reach - (reach - 1) / 2) * stride, for a reach of \(reaches)",
      anchors.isExponential ? "size = exp(value) * anchor" : "size = (2 * v)^2 * anchor",
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
    var found = NonMaximumSuppression.collection()
    for (grid, level) in zip(grids, anchors.levels) {
      try run.withValues(of: grid.output) { values throws(ApusError) in
        guard values.count == grid.count else {
          throw ApusError(
            .invalidData,
            "output \(grid.output) has \(values.count) values, not \(grid.count) as when prepared")
        }
        let cells = (count: grid.width * grid.height, step: grid.perCell)
        for anchor in level.anchors.indices {
          try AnswerCheck(readings).refuseNaN(
            in: values, from: anchor * grid.perAnchor + 4 * grid.perColumn, rows: cells,
            columns: (1 + classes, grid.perColumn))
        }
        collect(values, grid, level, criteria, &found)
      }
    }
    return NonMaximumSuppression(
      maximumOverlap: criteria.maximumOverlap, isClassAgnostic: criteria.isClassAgnostic,
      limit: criteria.maxResults
    ).kept(found).map {
      DetectedObject(
        index: $0.index, score: $0.score,
        box: BoundingBox(minX: $0.x1 / width, minY: $0.y1 / height, maxX: $0.x2 / width, maxY: $0.y2 / height)
      )
    }
  }

  /// A probability, an offset within its cell.
  private func activated(_ value: Float) -> Float { scores.form == .logit ? 1 / (1 + exp(-value)) : value }

  private func collect(
    _ values: Span<Float>, _ grid: AnchorGrid, _ level: YOLOAnchors.Level, _ criteria: DetectionCriteria,
    _ found: inout BestValues<Candidate>
  ) {
    var row = [Float](repeating: 0, count: classes)
    for cell in 0..<grid.width * grid.height {
      for anchor in level.anchors.indices {
        let start = cell * grid.perCell + anchor * grid.perAnchor
        let objectness = activated(values[start + 4 * grid.perColumn])
        // No class is more than certain.
        guard objectness > criteria.scoreThreshold else { continue }
        for index in 0..<classes { row[index] = values[start + (5 + index) * grid.perColumn] }
        if scores.form == .logit { activate(&row) }
        var best: (index: Int, score: Float) = (0, -.infinity)
        for index in 0..<classes {
          let score = row[index] * objectness
          if criteria.isMultiLabel {
            if score > criteria.scoreThreshold, criteria.categories.contains(index) {
              add(values, grid, level, start, cell, anchor, index, score, &found)
            }
          } else if score > best.score {
            best = (index, score)
          }
        }
        if best.score > criteria.scoreThreshold, criteria.categories.contains(best.index) {
          add(values, grid, level, start, cell, anchor, best.index, best.score, &found)
        }
      }
    }
  }

  /// Probabilities of classes from their logits: a softmax in YOLO v2, sigmoids since.
  private func activate(_ row: inout [Float]) {
    guard layout == .yolo2 else {
      for index in row.indices { row[index] = activated(row[index]) }
      return
    }
    let greatest = row.max() ?? 0
    var sum: Float = 0
    for index in row.indices {
      row[index] = exp(row[index] - greatest)
      sum += row[index]
    }
    for index in row.indices { row[index] /= sum }
  }

  private func add(
    _ values: Span<Float>, _ grid: AnchorGrid, _ level: YOLOAnchors.Level, _ start: Int, _ cell: Int,
    _ anchor: Int, _ index: Int, _ score: Float, _ found: inout BestValues<Candidate>
  ) {
    func center(_ column: Int, _ cell: Int) -> Float {
      let offset = activated(values[start + column * grid.perColumn]) * level.reach - (level.reach - 1) / 2
      return (offset + Float(cell)) * Float(level.stride)
    }
    func size(_ column: Int, _ anchor: Float) -> Float {
      let value = values[start + column * grid.perColumn]
      if anchors.isExponential { return exp(value) * anchor }
      let factor = 2 * activated(value)
      return factor * factor * anchor
    }
    let (x, y) = (center(0, cell % grid.width), center(1, cell / grid.width))
    let width = size(2, level.anchors[anchor].width)
    let height = size(3, level.anchors[anchor].height)
    found.add(
      Candidate(
        x1: x - width / 2, y1: y - height / 2, x2: x + width / 2, y2: y + height / 2, score: score,
        index: index, row: cell), score: score)
  }
}
