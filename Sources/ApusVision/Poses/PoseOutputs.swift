// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// How the outputs of MediaPipe's pose model become points and a mask: 39 points. 33 are the body's, and two say where to look next.
struct PoseOutputs: Sendable {
  /// All points, x, y, z, visibility and presence each.
  static let pointCount = 39
  /// The points of the body.
  static let bodyCount = 33
  /// A heat map refines a point by its mean over a square of this many cells a side around the point.
  private let refinementCells: Int

  /// The input's sides, in pixels.
  let inputWidth: Int
  let inputHeight: Int
  /// The sides of the mask and of the heat maps, in cells.
  private let mask: (width: Int, height: Int)
  private let heat: (width: Int, height: Int)

  /// Recognizes a model by its outputs: 195 numbers of points, 1 of presence, a mask, heat maps, 117 numbers of points in space.
  ///
  /// - Parameter refinementCells: An odd number, see ``PoseLandmarker/Options/refinementCells``.
  /// - Throws: `invalidArgument` for other models.
  init(_ prepared: PreparedModel, refinementCells: Int) throws(ApusError) {
    self.refinementCells = refinementCells
    let shapes = prepared.outputs.map(\.shape.dimensions)
    let counts = prepared.outputs.map(\.shape.elementCount)
    guard counts.count == 5, counts[0] == 5 * Self.pointCount, counts[1] == 1,
      counts[4] == 3 * Self.pointCount, shapes[2].count == 4, shapes[2][0] == 1, shapes[2][3] == 1,
      shapes[3].count == 4, shapes[3][0] == 1, shapes[3][3] == Self.pointCount
    else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of a pose model (195 numbers for points, 1 for presence, a mask 1×height×width×1, heat maps \
        1×height×width×39, 117 numbers for points in space), but: \(prepared.outputDescription)
        """)
    }
    mask = (shapes[2][2], shapes[2][1])
    heat = (shapes[3][2], shapes[3][1])
    (inputWidth, inputHeight) = (prepared.geometry.width, prepared.geometry.height)
  }

  /// The role of each output.
  static let roles = [
    0: "x, y, z, visibility and presence of 39 points, in pixels of the input",
    1: "the score that there is a person",
    2: "the logit of each pixel to be the person's", 3: "39 heat maps of logits",
    4: "x, y and z of 39 points in space, in meters",
  ]

  /// The points of a run in pixels of the input, x, y, z, visibility and presence each; refined by the heat maps.
  func points(_ run: ModelRun) throws(ApusError) -> [Float] {
    var points = try run.finiteValues(of: 0, count: 5 * Self.pointCount, "landmarks")
    for index in 0..<Self.pointCount {
      points[5 * index + 3] = logistic(points[5 * index + 3])
      points[5 * index + 4] = logistic(points[5 * index + 4])
    }
    try run.withValues(of: 3) { values throws(ApusError) in
      guard values.count == heat.width * heat.height * Self.pointCount else {
        throw ApusError(.invalidData, "the heat maps have another shape than when prepared")
      }
      for index in 0..<Self.pointCount {
        let x = points[5 * index] / Float(inputWidth) * Float(heat.width)
        let y = points[5 * index + 1] / Float(inputHeight) * Float(heat.height)
        // Points outside stay where they are; −0.5 counts as 0.
        guard x > -1, y > -1, x < Float(heat.width), y < Float(heat.height),
          let mean = mean(of: values, index, aroundColumn: Int(x), row: Int(y))
        else { continue }
        points[5 * index] = mean.x / Float(heat.width) * Float(inputWidth)
        points[5 * index + 1] = mean.y / Float(heat.height) * Float(inputHeight)
      }
    }
    return points
  }

  /// The mean position of a heat map around a cell, weighted by its confidences; nil if none of them reaches 0.5.
  private func mean(
    of values: Span<Float>, _ index: Int, aroundColumn column: Int, row: Int
  ) -> (x: Float, y: Float)? {
    let reach = (refinementCells - 1) / 2
    var (sum, most, x, y): (Float, Float, Float, Float) = (0, 0, 0, 0)
    for row in max(row - reach, 0)...min(row + reach, heat.height - 1) {
      for column in max(column - reach, 0)...min(column + reach, heat.width - 1) {
        let confidence = logistic(values[(row * heat.width + column) * Self.pointCount + index])
        sum += confidence
        most = max(most, confidence)
        x += Float(column) * confidence
        y += Float(row) * confidence
      }
    }
    return most >= 0.5 && sum > 0 && sum.isFinite ? (x / sum, y / sum) : nil
  }

  /// The mask of a run as a picture of a size: the confidences in 255ths, interpolated; 0 outside the region.
  func mask(
    _ run: ModelRun, of region: Region, width: Int, height: Int
  ) throws(ApusError) -> ImageBuffer {
    guard let inverse = AffineTransform(unitSquareTo: region).inverse else {
      throw ApusError(.invalidData, "the region of a mask has no area")
    }
    try requireMemory(width * height, for: "a mask of \(width) × \(height) pixels")
    var bytes = [UInt8](repeating: 0, count: width * height)
    try run.withValues(of: 2) { values throws(ApusError) in
      guard values.count == mask.width * mask.height else {
        throw ApusError(.invalidData, "the mask has another shape than when prepared")
      }
      let confidences = (0..<values.count).map { logistic(values[$0]) }
      func confidence(_ x: Int, _ y: Int) -> Float {
        x >= 0 && y >= 0 && x < mask.width && y < mask.height ? confidences[y * mask.width + x] : 0
      }
      for row in 0..<height {
        if row % 256 == 0 { try run.checkTime() }
        for column in 0..<width {
          // As in a crop, positions have no half pixels and are rounded to 1/32.
          let place = inverse(Double(column), Double(row))
          let (x, y) = (place.x * Double(mask.width) * 32, place.y * Double(mask.height) * 32)
          guard x > -32, y > -32, x < Double(32 * mask.width), y < Double(32 * mask.height) else { continue }
          let (stepX, stepY) = (Int(x.rounded()), Int(y.rounded()))
          let (left, top) = (stepX >> 5, stepY >> 5)
          let (right, lower) = (Float(stepX & 31) / 32, Float(stepY & 31) / 32)
          let first = (1 - right) * confidence(left, top) + right * confidence(left + 1, top)
          let second = (1 - right) * confidence(left, top + 1) + right * confidence(left + 1, top + 1)
          let mean = (1 - lower) * first + lower * second
          bytes[row * width + column] = mean > 0 ? UInt8(min(mean * 255, 255).rounded()) : 0
        }
      }
    }
    return ImageBuffer(trusted: bytes, width: width, height: height, format: .gray)
  }
}

/// 1 / (1 + exp(−x)).
private func logistic(_ value: Float) -> Float { 1 / (1 + exp(-value)) }
