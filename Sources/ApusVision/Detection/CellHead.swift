// SPDX-License-Identifier: Apache-2.0
import Apus

/// FOMO of Edge Impulse: the probability of each class in each cell, the background first. It finds where objects are, not how large
/// they are.
struct CellHead: DetectionHead {
  private let reading: LayoutReading
  private let columns: Int
  private let rows: Int
  private let channels: Int
  private let isPlanar: Bool
  private let scores: ScoreReading

  /// A rectangle of joined cells.
  private struct Cells {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int
    var score: Float
    let index: Int

    /// Whether a cell touches the rectangle, at a corner at least.
    func touches(_ column: Int, _ row: Int) -> Bool {
      right >= column && bottom >= row && left <= column + 1 && top <= row + 1
    }

    mutating func join(_ column: Int, _ row: Int, _ value: Float) {
      (left, top) = (min(left, column), min(top, row))
      (right, bottom) = (max(right, column + 1), max(bottom, row + 1))
      score = max(score, value)
    }
  }

  /// Recognizes one output of a probability for each cell of 8 pixels, or of 4, 16 or 32; nil for others.
  init?(_ prepared: PreparedModel, chosen: DetectorLayout?) {
    guard chosen == nil || chosen == .fomo, prepared.outputs.count == 1 else { return nil }
    let (shape, geometry) = (prepared.outputs[0].shape.dimensions, prepared.geometry)
    guard shape.count == 4, shape[0] == 1 else { return nil }
    func stride(_ columns: Int, _ rows: Int, _ channels: Int) -> Int? {
      // A single cell is rather a classifier's, unless the caller says otherwise.
      guard channels > 1, columns > 0, rows > 0, chosen != nil || columns * rows > 1 else { return nil }
      return [8, 16, 4, 32].first { side in
        [geometry.width / side, (geometry.width + side - 1) / side].contains(columns)
          && [geometry.height / side, (geometry.height + side - 1) / side].contains(rows)
      }
    }
    let side: Int
    if let found = stride(shape[2], shape[1], shape[3]) {
      (rows, columns, channels, isPlanar, side) = (shape[1], shape[2], shape[3], false, found)
    } else if let found = stride(shape[3], shape[2], shape[1]) {
      (channels, rows, columns, isPlanar, side) = (shape[1], shape[2], shape[3], true, found)
    } else {
      return nil
    }
    let isSoftmax = prepared.lastOperator(of: 0) == "SOFTMAX"
    let isProbability =
      isSoftmax
      || chosen == nil
        && Self.sumsToOne(prepared.probe(0) ?? [], cells: rows * columns, channels, isPlanar: isPlanar)
    guard chosen != nil || isProbability else { return nil }
    reading =
      chosen.map { LayoutReading(given: $0) }
      ?? LayoutReading(.fomo, .guess, "probabilities of \(channels) classes for each cell of \(side) pixels")
    scores =
      isProbability && prepared.options.scores == nil
      ? ScoreReading(
        form: .probability,
        assumption: Assumption(
          "scores", ScoreForm.probability.rawValue, .model,
          reason: isSoftmax ? "SOFTMAX computes them" : "for a gray picture, those of each cell sum to 1",
          option: "--scores"))
      : reading.scores(.probability, given: prepared.options.scores)
  }

  /// Whether the numbers of each cell are probabilities that sum to one.
  private static func sumsToOne(_ values: [Float], cells: Int, _ channels: Int, isPlanar: Bool) -> Bool {
    let (perCell, perChannel) = isPlanar ? (1, cells) : (channels, 1)
    return values.count == cells * channels
      && (0..<cells).allSatisfy { cell in
        let row = (0..<channels).map { values[cell * perCell + $0 * perChannel] }
        // Each byte is rounded by half a step of 1/256.
        return row.allSatisfy { (0...1).contains($0) }
          && abs(row.reduce(0, +) - 1) <= 0.01 + 0.002 * Float(channels)
      }
  }

  // MARK: Facts

  var classCount: Int? { channels - 1 }

  var layout: DetectorLayout { reading.layout }
  var reason: String { reading.reason }
  var readings: [Assumption] { [reading.assumption, scores.assumption] }
  var pictureDefaults: PictureDefaults { reading.pictures(fit: .stretch, .unit) }

  var roles: [Int: String] {
    [0: "\(channels) probabilities for each of \(columns)×\(rows) cells, the first of the background"]
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    [
      "a cell counts for each class but the background whose probability is >= \(criteria.scoreThreshold)",
      "row by row, a cell joins the first box of its class that it touches; the score is that of the best cell",
      "best first, at most \(criteria.maxResults); boxes are cells, not the sizes of objects",
    ]
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    let joined = try run.withValues(of: 0) { values throws(ApusError) in
      guard values.count == rows * columns * channels else {
        throw ApusError(
          .invalidData,
          "output 0 has \(values.count) values, not \(rows)×\(columns)×\(channels) as when prepared")
      }
      try AnswerCheck(readings).refuseNaN(
        in: values, from: 0, rows: (1, 1), columns: (values.count, 1))
      return try self.joined(values, criteria, run)
    }
    var best = BestValues<DetectedObject>(limit: criteria.maxResults)
    let (width, height) = (Float(columns), Float(rows))
    for cells in joined {
      let box = BoundingBox(
        minX: Float(cells.left) / width, minY: Float(cells.top) / height, maxX: Float(cells.right) / width,
        maxY: Float(cells.bottom) / height)
      var object = DetectedObject(index: cells.index, score: cells.score, box: box)
      object.isCentered = true
      best.add(object, score: cells.score)
    }
    return best.sorted()
  }

  private func joined(_ values: Span<Float>, _ criteria: DetectionCriteria, _ run: ModelRun) throws(ApusError)
    -> [Cells]
  {
    let (perCell, perChannel) = isPlanar ? (1, rows * columns) : (channels, 1)
    var found: [[Cells]] = [[Cells]](repeating: [], count: channels)
    // Of each class, the boxes that reach the row before, in their order: others cannot be touched any more.
    var near: [[Int]] = [[Int]](repeating: [], count: channels)
    for row in 0..<rows {
      try run.checkTime()
      for channel in 1..<channels where !near[channel].isEmpty {
        near[channel].removeAll { found[channel][$0].bottom < row }
      }
      for column in 0..<columns {
        let start = (row * columns + column) * perCell
        for channel in 1..<channels {
          let value = values[start + channel * perChannel]
          guard value >= criteria.scoreThreshold, criteria.categories.contains(channel - 1) else { continue }
          if let place = near[channel].first(where: { found[channel][$0].touches(column, row) }) {
            found[channel][place].join(column, row, value)
          } else {
            near[channel].append(found[channel].count)
            found[channel].append(
              Cells(
                left: column, top: row, right: column + 1, bottom: row + 1, score: value, index: channel - 1))
          }
        }
      }
    }
    return found.flatMap { $0 }
  }
}
