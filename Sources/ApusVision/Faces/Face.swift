// SPDX-License-Identifier: Apache-2.0

/// A face that a detector found.
public struct Face: Hashable, Sendable {
  /// The model's confidence, 0 to 1.
  public var score: Float
  /// The box in fractions of the picture after orientation.
  public let boundingBox: BoundingBox
  /// The box in pixels of the picture after orientation.
  public let rect: PixelRect
  /// Eyes, nose, mouth and ears, in the order of ``keypointNames``.
  public var keypoints: [Keypoint]

  /// The points of a face, as seen from the person: the right eye is usually on the left of the picture.
  public static let keypointNames = [
    "right eye", "left eye", "nose tip", "mouth center", "right ear tragion", "left ear tragion",
  ]

  /// Makes a face.
  public init(score: Float, boundingBox: BoundingBox, rect: PixelRect, keypoints: [Keypoint]) {
    self.score = score
    self.boundingBox = boundingBox
    self.rect = rect
    self.keypoints = keypoints
  }
}

extension Face: Encodable {
  private enum CodingKeys: CodingKey {
    case score, box, keypoints
  }

  private struct Point: Encodable {
    let name: String?
    let x: Float
    let y: Float
  }

  /// Encodes `score`, `box` and `keypoints` (`name`, `x`, `y`), in pixels.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(score, forKey: .score)
    try container.encode(rect, forKey: .box)
    try container.encode(keypoints.map { Point(name: $0.name, x: $0.x, y: $0.y) }, forKey: .keypoints)
  }
}
