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

  /// The box as a Gaussian.
  struct Gaussian {
    /// The mean.
    let x: Float
    let y: Float
    /// The variances of x and of y, and their covariance.
    let a: Float
    let b: Float
    let c: Float
    /// The determinant of the covariance matrix.
    let determinant: Float
  }

  var gaussian: Gaussian {
    let (across, down) = (width * width / 12, height * height / 12)
    let (cosine, sine) = (cos(angle), sin(angle))
    let a = across * cosine * cosine + down * sine * sine
    let b = across * sine * sine + down * cosine * cosine
    let c = (across - down) * cosine * sine
    return Gaussian(x: x, y: y, a: a, b: b, c: c, determinant: a * b - c * c)
  }
}

/// Whether two turned boxes overlap by a minimum: the probabilistic intersection over union of Llerena et al., "Gaussian Bounding
/// Boxes and Probabilistic Intersection-over-Union for Object Detection" (2021), which is 1 less the Hellinger distance of the
/// boxes as Gaussians.
struct ProbabilisticOverlap {
  private let minimum: Float
  /// The Bhattacharyya distance beyond which the overlap is less than the minimum.
  private let farthest: Float

  init(minimum: Float) {
    self.minimum = minimum
    // A margin covers the rounding of logarithms.
    let hellinger = 1 - minimum
    farthest = minimum > 0 ? -log(max(1 - hellinger * hellinger, 0)) * 1.01 + 1e-3 : .infinity
  }

  func isReached(_ one: RotatedBox.Gaussian, _ two: RotatedBox.Gaussian) -> Bool {
    let (a, b, c) = (one.a + two.a, one.b + two.b, one.c + two.c)
    let (dx, dy) = (one.x - two.x, one.y - two.y)
    let determinant = a * b - c * c
    let product = one.determinant * two.determinant
    guard determinant > 0, product > 0 else { return minimum <= 0 }
    // The boxes' forms only add to the distance of their centers.
    let shift = (a * dy * dy + b * dx * dx - 2 * c * dx * dy) / determinant / 4
    if shift > farthest { return false }
    let distance = shift + log(determinant / (4 * product.squareRoot())) / 2
    // Equal boxes have a distance of 1e-7, not 0, so that they overlap by less than 1.
    return 1 - max(1 - exp(-max(distance, 0)) + Self.epsilon, 0).squareRoot() >= minimum
  }

  private static let epsilon: Float = 1e-7
}

/// A turned box that competes with others.
struct RotatedCandidate {
  var box: RotatedBox
  var score: Float
  var index: Int

  /// Fast suppression of Bolya et al., "YOLACT: Real-time Instance Segmentation" (2019): a box goes if a better one overlaps it enough,
  /// even if that one goes as well.
  static func kept(_ candidates: consuming BestValues<RotatedCandidate>, _ criteria: DetectionCriteria)
    -> [RotatedCandidate]
  {
    var kept: [RotatedCandidate] = []
    let overlap = ProbabilisticOverlap(minimum: criteria.maximumOverlap)
    var better: [Int: [RotatedBox.Gaussian]] = [:]
    for candidate in candidates.sorted() {
      guard kept.count < criteria.maxResults else { break }
      let group = criteria.isClassAgnostic ? 0 : candidate.index
      let gaussian = candidate.box.gaussian
      let isSuppressed = better[group, default: []].contains { overlap.isReached($0, gaussian) }
      if !isSuppressed { kept.append(candidate) }
      better[group, default: []].append(gaussian)
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
