// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// A box that is turned around its center, in pixels of the input.
struct RotatedBox {
  var x: Float
  var y: Float
  var width: Float
  var height: Float
  /// In radians, clockwise from the horizontal to the side of the width.
  var angle: Float

  /// The corners, clockwise from the top left one before the turn.
  var corners: [(x: Float, y: Float)] {
    let (cosine, sine) = (cos(angle), sin(angle))
    return [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map { (a: Float, b: Float) in
      let (across, down) = (a * width, b * height)
      return (x + across * cosine - down * sine, y + across * sine + down * cosine)
    }
  }

  /// The covariance of the box as a Gaussian: those of x, of y, and of both.
  private var covariance: (a: Float, b: Float, c: Float) {
    let (across, down) = (width * width / 12, height * height / 12)
    let (cosine, sine) = (cos(angle), sin(angle))
    return (
      across * cosine * cosine + down * sine * sine, across * sine * sine + down * cosine * cosine,
      (across - down) * cosine * sine
    )
  }

  /// The probabilistic intersection over union of Llerena et al., "Gaussian Bounding Boxes and Probabilistic
  /// Intersection-over-Union for Object Detection" (2021): 1 less the Hellinger distance of the boxes as Gaussians.
  func probabilisticIntersectionOverUnion(_ other: RotatedBox) -> Float {
    let (one, two) = (covariance, other.covariance)
    let (a, b, c) = (one.a + two.a, one.b + two.b, one.c + two.c)
    let (dx, dy) = (x - other.x, y - other.y)
    let determinant = a * b - c * c
    let product = (one.a * one.b - one.c * one.c) * (two.a * two.b - two.c * two.c)
    guard determinant > 0, product > 0 else { return 0 }
    let shift = (a * dy * dy + b * dx * dx - 2 * c * dx * dy) / determinant / 4
    let shape = log(determinant / (4 * product.squareRoot())) / 2
    let distance = shift + shape
    return 1 - max(1 - exp(-max(distance, 0)), 0).squareRoot()
  }
}

/// A turned box that competes with others.
struct RotatedCandidate {
  var box: RotatedBox
  var score: Float
  var index: Int

  /// Greedy suppression: of boxes whose probabilistic intersection over union is above the threshold, the best stays.
  static func kept(_ candidates: consuming BestValues<RotatedCandidate>, _ criteria: DetectionCriteria)
    -> [RotatedCandidate]
  {
    var kept: [RotatedCandidate] = []
    for candidate in candidates.sorted() {
      guard kept.count < criteria.maxResults else { break }
      let isSuppressed = kept.contains {
        (criteria.isClassAgnostic || $0.index == candidate.index)
          && $0.box.probabilisticIntersectionOverUnion(candidate.box) > criteria.maximumOverlap
      }
      if !isSuppressed { kept.append(candidate) }
    }
    return kept
  }

  /// The object, in fractions of an input of that size.
  ///
  /// - Throws: The refusal of a box that no reading can have.
  func object(_ width: Float, _ height: Float, _ check: AnswerCheck) throws(ApusError) -> DetectedObject {
    // A turn and a half is more than any convention has.
    guard box.width >= 0, box.height >= 0, abs(box.angle) <= 3 * .pi else {
      throw check.refusal(
        "an answer has a box of \(box.width) × \(box.height) pixels of the input, turned by \(box.angle)",
        "layout")
    }
    let corners = box.corners.map { (x: $0.x / width, y: $0.y / height) }
    let (x, y) = (corners.map(\.x), corners.map(\.y))
    var object = DetectedObject(
      index: index, score: score,
      box: BoundingBox(
        minX: x.min() ?? 0, minY: y.min() ?? 0, maxX: x.max() ?? 0, maxY: y.max() ?? 0))
    object.corners = corners
    return object
  }
}
