// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Keypoints behind the class scores of a candidate.
extension YOLOHead {
  /// The reading of the number of keypoints, and of the numbers of each.
  static func reading(
    _ keypoints: (count: Int, values: Int), isGiven: Bool, _ export: ExportMetadata?
  ) -> Assumption {
    let (source, reason): (AssumptionSource, String) =
      if isGiven {
        (.given, "the options")
      } else if let export, export.keypoints != nil {
        (.exporter, "kpt_shape of \(export.fileName)")
      } else {
        (.guess, "the points of a person in COCO, for which there are as many columns")
      }
    return Assumption(
      "keypoints", "\(keypoints.count)x\(keypoints.values)", source, reason: reason, option: "--keypoints")
  }

  /// The keypoints of candidates, in fractions of the input; empty without any.
  ///
  /// They have the unit of the boxes. But exports of Ultralytics to TensorFlow Lite before YOLO11 divide boxes by the input's size and
  /// leave keypoints in pixels. Points lie in their boxes, which tells.
  func points(
    of candidates: ArraySlice<Candidate>, _ decoder: YOLODecoder, _ values: Span<Float>,
    areBoxesPixels: Bool
  ) -> [[ModelKeypoint]] {
    guard let keypoints, keypoints.values >= 2 else { return [] }
    let first = shape.firstExtra + (prototypes?.count ?? 0)
    let numbers = candidates.map {
      decoder.columns($0.row, first, keypoints.count * keypoints.values, values)
    }
    var (pixels, fractions) = (0, 0)
    for (candidate, numbers) in zip(candidates, numbers) {
      for start in stride(from: 0, to: numbers.count, by: keypoints.values) {
        let (x, y) = (numbers[start], numbers[start + 1])
        if candidate.contains(x: x, y: y) { pixels += 1 }
        if candidate.contains(x: x * width, y: y * height) { fractions += 1 }
      }
    }
    let arePixels = areBoxesPixels ? pixels >= fractions : pixels > fractions
    let (unitX, unitY) = arePixels ? (width, height) : (1, 1)
    return numbers.map { numbers in
      stride(from: 0, to: numbers.count, by: keypoints.values).map { start in
        ModelKeypoint(
          x: numbers[start] / unitX, y: numbers[start + 1] / unitY,
          score: keypoints.values > 2 ? decoder.probability(numbers[start + 2]) : nil)
      }
    }
  }
}

extension Candidate {
  /// Whether a point, in pixels of the input as the corners are, lies in the box.
  fileprivate func contains(x: Float, y: Float) -> Bool { x >= x1 && x <= x2 && y >= y1 && y <= y2 }
}
