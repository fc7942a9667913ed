// SPDX-License-Identifier: Apache-2.0
import Apus

/// Names gestures of hands by example: the nearest of known ones, where each is a few hands that show it.
///
/// ```swift
/// var gestures = try LandmarkClassifier()
/// for hand in try landmarker.detect(picture).hands { try gestures.add("victory", hand) }
/// let match = try gestures.classify(otherHand)  // victory
/// ```
///
/// Where a hand is, how large it is and whether it is left or right does not matter; how it is turned does: thumbs up and thumbs down
/// differ. ``HandLandmarker/Options/gestures`` names the gesture of each hand that is found.
public struct LandmarkClassifier: Sendable {
  /// The known hands.
  public private(set) var gallery: EmbeddingGallery

  /// How many of the nearest known hands vote for the name.
  public var neighbors = 1

  /// The distance beyond which a gesture is unknown; nil for no limit. 0.4 is right for a few distinct gestures, 0.25 for gestures that
  /// differ by one finger. With ten examples, nine hands of ten have one of their gesture within 0.3; no two hands are farther apart than 2.
  public var maximumDistance: Double?

  /// The text with which galleries of hands describe their embeddings.
  public static let preparation = "hand landmarks: centered, scaled, left hands mirrored"

  /// Makes a classifier.
  ///
  /// - Parameter gallery: Known hands; by default none.
  /// - Throws: `invalidArgument` if the gallery has embeddings that were made in another way.
  public init(gallery: EmbeddingGallery = EmbeddingGallery()) throws(ApusError) {
    if !gallery.entries.isEmpty, gallery.preparation != Self.preparation {
      throw ApusError(
        .invalidArgument,
        "the gallery's embeddings were made with '\(gallery.preparation ?? "an unknown preparation")', not with "
          + "'\(Self.preparation)': make a gallery of hands")
    }
    self.gallery = gallery
    self.gallery.preparation = Self.preparation
    let count = 3 * Hand.landmarkNames.count
    if let dimension = gallery.dimension, dimension != count {
      throw ApusError(
        .invalidArgument, "the gallery's embeddings have \(dimension) coordinates, not the \(count) of hands")
    }
  }

  /// Enrolls a hand under the name of its gesture.
  ///
  /// - Throws: `invalidArgument` for an empty or too long name, and for points that are not those of a hand.
  public mutating func add(_ name: String, _ hand: Hand) throws(ApusError) {
    try gallery.add(name, Self.embedding(of: hand))
  }

  /// The gesture of a hand: the most frequent name among the nearest known hands.
  ///
  /// - Returns: The name, nil if it is unknown, with the distance of the nearest known hand; nil if no hand is known.
  /// - Throws: `invalidArgument` for points that are not those of a hand.
  public func classify(_ hand: Hand) throws(ApusError) -> EmbeddingGallery.Match? {
    let embedding = try Self.embedding(of: hand)
    guard let nearest = gallery.nearest(to: embedding).first else { return nil }
    let name = gallery.name(of: embedding, k: max(neighbors, 1), distance: maximumDistance)
    return EmbeddingGallery.Match(name: name, distance: nearest.distance)
  }

  /// The points of a hand as an embedding; left hands are mirrored to look like right ones.
  ///
  /// - Throws: `invalidArgument` for points that are not those of a hand.
  public static func embedding(of hand: Hand) throws(ApusError) -> Embedding {
    guard hand.landmarks.count == Hand.landmarkNames.count else {
      throw ApusError(
        .invalidArgument, "a hand has \(Hand.landmarkNames.count) points, not \(hand.landmarks.count)")
    }
    return try embedding(of: hand.landmarks, isMirrored: hand.handedness == .left)
  }

  /// The coordinates of points, moved so that their mean is the origin, and scaled so that together they have the length 1.
  ///
  /// - Parameters:
  ///   - landmarks: The points of a hand, a face or a body.
  ///   - isMirrored: Whether left and right are exchanged.
  /// - Throws: `invalidArgument` for coordinates that are not finite, and for points that all lie in one place.
  public static func embedding(
    of landmarks: [Landmark], isMirrored: Bool = false
  ) throws(ApusError) -> Embedding {
    let points = landmarks.map { SIMD3(Double($0.x), Double($0.y), Double($0.z)) }
    if let index = points.firstIndex(where: { !($0.x.isFinite && $0.y.isFinite && $0.z.isFinite) }) {
      throw ApusError(
        .invalidArgument,
        "landmark \(index) is at (\(points[index].x), \(points[index].y), \(points[index].z)), not at finite coordinates"
      )
    }
    let mean = points.reduce(SIMD3<Double>.zero, +) / Double(max(points.count, 1))
    let centered = points.map { $0 - mean }
    let length = centered.reduce(0.0) { $0 + ($1 * $1).sum() }.squareRoot()
    guard length > 1e-9, length.isFinite else {
      throw ApusError(.invalidArgument, "\(points.count) landmarks that all lie in one place have no shape")
    }
    let side: Double = isMirrored ? -1 : 1
    return Embedding(
      centered.flatMap { [Float($0.x * side / length), Float($0.y / length), Float($0.z / length)] })
  }
}
