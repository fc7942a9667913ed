// SPDX-License-Identifier: Apache-2.0

/// One object that a detector found.
public struct Detection: Hashable, Sendable {
  /// The class, with its score.
  public var category: Category
  /// The box in fractions of the picture after orientation.
  public let boundingBox: BoundingBox
  /// The box in pixels of the picture after orientation.
  public let rect: PixelRect

  /// The object's points; empty for most models.
  public var keypoints: [Keypoint]
  /// The object's pixels; nil for models that give only boxes, and where the masks of a picture have too many pixels together.
  public var mask: DetectionMask?
  /// The box that is turned to fit the object; nil for models with upright boxes. ``rect`` is then what it spans.
  public var orientedBox: OrientedBox?
  /// Where the object is, for models that find places but no sizes; nil for others.
  public var center: PixelPoint?

  /// Makes a detection from both forms of its box.
  public init(
    category: Category, boundingBox: BoundingBox, rect: PixelRect, keypoints: [Keypoint] = [],
    mask: DetectionMask? = nil, center: PixelPoint? = nil, orientedBox: OrientedBox? = nil
  ) {
    self.category = category
    self.boundingBox = boundingBox
    self.rect = rect
    self.keypoints = keypoints
    self.mask = mask
    self.center = center
    self.orientedBox = orientedBox
  }

  /// Makes a detection in a picture of this size after orientation.
  public init(category: Category, boundingBox: BoundingBox, imageWidth: Int, imageHeight: Int) {
    self.init(
      category: category, boundingBox: boundingBox,
      rect: boundingBox.rect(width: imageWidth, height: imageHeight))
  }

  /// The class as the model counts it.
  public var index: Int { category.index }

  /// The model's confidence.
  public var score: Float { category.score }

  /// The object's label, if there is one.
  public var label: String? { category.label }
}

extension Detection: Encodable {
  private enum CodingKeys: CodingKey {
    case label, index, score, box, angle, corners, center, keypoints, mask
    case displayName
  }

  /// Encodes `label` (null if there is none), `index`, `score` and `box` in pixels; `angle` and `corners`, `center`,
  /// `keypoints` and `mask` if the model gives them.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(label, forKey: .label)
    try container.encodeIfPresent(category.displayName, forKey: .displayName)
    try container.encode(index, forKey: .index)
    try container.encode(score, forKey: .score)
    try container.encode(rect, forKey: .box)
    try container.encodeIfPresent(orientedBox?.angle, forKey: .angle)
    try container.encodeIfPresent(orientedBox?.corners, forKey: .corners)
    try container.encodeIfPresent(center, forKey: .center)
    if !keypoints.isEmpty { try container.encode(keypoints, forKey: .keypoints) }
    try container.encodeIfPresent(mask, forKey: .mask)
  }
}
