// SPDX-License-Identifier: Apache-2.0
import ApusVision
import TestSupport
import Testing

/// Answers of the rules of `Tools/landmarks/rules.py`; written by `Tools/landmarks/goldens.py`.
struct LandmarkGolden: Decodable, Sendable, CustomTestStringConvertible {
  struct Subject: Decodable, Sendable {
    let region, landmarks, world, next: [Float]
    // Of bodies: refined by 9 × 9 cells instead of 7 × 7.
    let wide: [Float]?
  }

  let kind: String
  // Crops and hands.
  let picture: [Int]?
  // Crops, and the predictions of a person's face.
  let region: [Float]?
  let size: [Int]?
  let border: String?
  let bytes: [UInt8]?
  // Anchors: every `every`-th; of a person, the regions of body, left hand, right hand and face.
  let name: String?
  let count, every: Int?
  let anchors: [Float]?
  // Hands, faces and bodies.
  let rows: [Int]?
  let predictions, logits, points, worldPoints: [Float]?
  let subjects: [Subject]?
  // Of frames, a subject for each or all its numbers, before and after smoothing; of a person, the regions of each.
  let times: [Double]?
  let withRegions: Bool?
  let raw, smooth: [[Float]]?
  // Of a head, whose points, places and weights are `points`, `worldPoints` and `logits`: row by row.
  let matrix: [Float]?

  static let all: [LandmarkGolden] = goldens("landmarks")

  static func of(_ kind: String) -> [LandmarkGolden] { all.filter { $0.kind == kind } }

  var testDescription: String {
    "\(kind) \(name ?? "")\(withRegions.map { "with regions: \($0)" } ?? "") \(picture ?? []) \(region ?? []) \(border ?? "")"
  }

  /// The picture that the rules know: a byte for each place.
  func image() throws -> ImageBuffer {
    let picture = try #require(picture)
    let bytes = (0..<picture[0] * picture[1] * 3).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 11) }
    return try ImageBuffer(bytes: bytes, width: picture[0], height: picture[1], format: .rgb)
  }
}

extension DetectorModel {
  /// A detector with anchors: predictions in some rows, and nothing in the others.
  static func anchored(
    count: Int, columns: Int, side: Int32, rows: [Int], _ predictions: [Float], _ logits: [Float]
  ) -> DetectorModel {
    var all = [Float](repeating: 0, count: count * columns)
    var scores = [Float](repeating: -9, count: count)
    for (index, row) in rows.enumerated() {
      scores[row] = logits[index]
      for column in 0..<columns { all[row * columns + column] = predictions[index * columns + column] }
    }
    return answering(
      [
        Answer(shape: [1, Int32(count), Int32(columns)], values: all),
        Answer(shape: [1, Int32(count), 1], values: scores),
      ], shape: [1, side, side, 3], type: float32)
  }
}

extension Region {
  /// Center, size and rotation.
  init(_ numbers: [Float]) {
    self.init(
      center: PixelPoint(x: numbers[0], y: numbers[1]), width: numbers[2], height: numbers[3],
      rotation: numbers[4])
  }

  var numbers: [Float] { [center.x, center.y, width, height, rotation] }
}

/// Whether numbers agree but for the order of float32 arithmetic.
func agree(_ one: [Float], _ other: [Float], within tolerance: Float = 1e-4) -> Bool {
  one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) <= tolerance * max(1, abs($1)) }
}
