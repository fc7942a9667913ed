// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Faces in a model's terms, before and after overlapping ones are merged.
struct FaceCandidates {
  /// A face in fractions of the input.
  struct Candidate {
    var score: Float
    /// Left, top, right, bottom, then x and y of each keypoint.
    var coordinates: [Float]

    var box: BoundingBox {
      BoundingBox(
        ymin: coordinates[1], xmin: coordinates[0], ymax: coordinates[3], xmax: coordinates[2])
    }
  }

  /// The maximum number of candidates that are compared; the best ones.
  private static let maximumCandidates = 4096
  /// Scores are cut to ±100 before the logistic function.
  private static let clippedScore: Float = 100

  /// The best candidates, best first.
  let candidates: [Candidate]

  /// Decodes the predictions that score enough.
  ///
  /// - Parameters:
  ///   - predictions: For each anchor x, y, width, height and the keypoints, in pixels of the input relative to it.
  ///   - scores: The score of each, a logit unless `areProbabilities`.
  init(
    _ predictions: Span<Float>, _ scores: [Float], areProbabilities: Bool = false,
    centers: [(x: Float, y: Float)], columns: Int,
    width: Float, height: Float, threshold: Float
  ) {
    var found = BestValues<Candidate>(limit: Self.maximumCandidates)
    for (row, center) in centers.enumerated() {
      let value = scores[row]
      let score =
        areProbabilities ? value : 1 / (1 + exp(-min(max(value, -Self.clippedScore), Self.clippedScore)))
      guard score >= threshold else { continue }
      let start = row * columns
      let x = predictions[start] / width + center.x
      let y = predictions[start + 1] / height + center.y
      let (w, h) = (predictions[start + 2] / width, predictions[start + 3] / height)
      var coordinates = [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
      for column in stride(from: 4, to: columns - 1, by: 2) {
        coordinates.append(predictions[start + column] / width + center.x)
        coordinates.append(predictions[start + column + 1] / height + center.y)
      }
      found.add(Candidate(score: score, coordinates: coordinates), score: score)
    }
    candidates = found.sorted()
  }

  /// Faces, best first: each is the mean, weighted by scores, of the candidates that overlap the best one of them by more
  /// than the threshold; its score is the best one's.
  func merged(iouThreshold: Float) -> [Candidate] {
    var rest = candidates
    var merged: [Candidate] = []
    while let best = rest.first {
      var alike: [Candidate] = []
      var others: [Candidate] = []
      for candidate in rest {
        if candidate.box.intersectionOverUnion(best.box) > iouThreshold {
          alike.append(candidate)
        } else {
          others.append(candidate)
        }
      }
      var face = best
      let total = alike.reduce(0) { $0 + $1.score }
      // Scores of 0 have no mean.
      if total > 0 {
        for index in face.coordinates.indices {
          face.coordinates[index] = alike.reduce(0) { $0 + $1.coordinates[index] * $1.score } / total
        }
      }
      merged.append(face)
      // A box without an area is not even like itself.
      rest = others.count < rest.count ? others : Array(rest.dropFirst())
    }
    return merged
  }
}
