// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// A box with points that a detector found, such as a face with its eyes or a palm with its knuckles.
struct AnchoredBox: Sendable {
  /// The confidence, 0 to 1.
  var score: Float
  /// Left, top, right, bottom, then x and y of each keypoint.
  var coordinates: [Float]

  /// The four edges.
  var box: BoundingBox {
    BoundingBox(minX: coordinates[0], minY: coordinates[1], maxX: coordinates[2], maxY: coordinates[3])
  }

  /// The number of keypoints.
  var keypointCount: Int { (coordinates.count - 4) / 2 }

  /// A keypoint.
  func keypoint(_ index: Int) -> (x: Float, y: Float) {
    (coordinates[4 + 2 * index], coordinates[5 + 2 * index])
  }

  /// The box and its points, seen through a transform without a turn.
  func mapped(by map: AffineTransform) -> AnchoredBox {
    var result = self
    for index in stride(from: 0, to: coordinates.count, by: 2) {
      let point = map(Double(coordinates[index]), Double(coordinates[index + 1]))
      result.coordinates[index] = Float(point.x)
      result.coordinates[index + 1] = Float(point.y)
    }
    return result
  }
}

/// Boxes in fractions of a model's input, before and after overlapping ones are merged.
struct AnchoredBoxes {
  /// The maximum number of candidates that are compared; the best ones.
  private static let maximumCandidates = 4096
  /// Scores are cut to ±100 before the logistic function.
  private static let clippedScore: Float = 100

  /// The best candidates, best first.
  let candidates: [AnchoredBox]

  /// Decodes the predictions that score enough.
  ///
  /// - Parameters:
  ///   - predictions: For each anchor x, y, width, height and the keypoints, in pixels of the input relative to it.
  ///   - scores: The score of each.
  ///   - areLogits: Whether the scores are logits, rather than scores from 0 to 1 or whatever the caller compares.
  init(
    _ predictions: Span<Float>, _ scores: [Float], areLogits: Bool,
    centers: [(x: Float, y: Float)], columns: Int,
    width: Float, height: Float, threshold: Float
  ) {
    var found = BestValues<AnchoredBox>(limit: Self.maximumCandidates)
    for row in centers.indices {
      let value = scores[row]
      let score =
        areLogits ? 1 / (1 + exp(-min(max(value, -Self.clippedScore), Self.clippedScore))) : value
      guard score >= threshold else { continue }
      let (start, center) = (row * columns, centers[row])
      let x = predictions[start] / width + center.x
      let y = predictions[start + 1] / height + center.y
      let (w, h) = (predictions[start + 2] / width, predictions[start + 3] / height)
      var coordinates = [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
      for column in stride(from: 4, to: columns - 1, by: 2) {
        coordinates.append(predictions[start + column] / width + center.x)
        coordinates.append(predictions[start + column + 1] / height + center.y)
      }
      found.add(AnchoredBox(score: score, coordinates: coordinates), score: score)
    }
    candidates = found.sorted()
  }

  /// Weighted suppression, best first: each box is the mean, weighted by scores, of the candidates that overlap the best one of them by
  /// more than the threshold; its score is the best one's.
  func merged(maximumOverlap: Float) -> [AnchoredBox] {
    var rest = candidates
    var merged: [AnchoredBox] = []
    while let best = rest.first {
      var alike: [AnchoredBox] = []
      var others: [AnchoredBox] = []
      for candidate in rest {
        if candidate.box.intersectionOverUnion(best.box) > maximumOverlap {
          alike.append(candidate)
        } else {
          others.append(candidate)
        }
      }
      var box = best
      let total = alike.reduce(0) { $0 + $1.score }
      // Scores of 0 have no mean.
      if total > 0 {
        for index in box.coordinates.indices {
          box.coordinates[index] = alike.reduce(0) { $0 + $1.coordinates[index] * $1.score } / total
        }
      }
      merged.append(box)
      // A box without an area is not even like itself.
      rest = others.count < rest.count ? others : Array(rest.dropFirst())
    }
    return merged
  }
}
