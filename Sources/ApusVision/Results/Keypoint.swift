// SPDX-License-Identifier: Apache-2.0

/// A point that a model found: a joint, an eye.
public struct Keypoint: Hashable, Sendable {
  /// The point's name, such as `left eye`; nil if it is not known.
  public var name: String?
  /// The distance from the left, in pixels of the picture after orientation.
  public var x: Float
  /// The distance from the top, in pixels of the picture after orientation.
  public var y: Float
  /// The model's confidence; nil if it gives none.
  public var score: Float?

  /// Makes a point.
  public init(name: String? = nil, x: Float, y: Float, score: Float? = nil) {
    self.name = name
    self.x = x
    self.y = y
    self.score = score
  }

  /// The seventeen points of COCO's people, in their usual order.
  public static let cocoNames = [
    "nose", "left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder", "left elbow",
    "right elbow", "left wrist", "right wrist", "left hip", "right hip", "left knee", "right knee",
    "left ankle", "right ankle",
  ]
}

extension Keypoint: Codable {
  private enum CodingKeys: CodingKey {
    case name, x, y, score
  }

  /// Encodes `name`, `x`, `y` and `score`, with null for what is not known.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(x, forKey: .x)
    try container.encode(y, forKey: .y)
    try container.encode(score, forKey: .score)
  }
}
