// SPDX-License-Identifier: Apache-2.0

/// One object that a detector found.
public struct Detection: Hashable, Sendable {
  /// What was found, and how surely.
  public var category: Category
  /// Where, in fractions of the picture as it is seen.
  public var boundingBox: BoundingBox
  /// Where, in pixels of the picture as it is seen.
  public var rect: PixelRect

  /// The points that the model found on it; mostly none.
  public var keypoints: [Keypoint]
  /// The pixels that it covers; nil for models that give boxes alone.
  public var mask: DetectionMask?

  /// Makes a detection of both forms of its box.
  public init(
    category: Category, boundingBox: BoundingBox, rect: PixelRect, keypoints: [Keypoint] = [],
    mask: DetectionMask? = nil
  ) {
    self.category = category
    self.boundingBox = boundingBox
    self.rect = rect
    self.keypoints = keypoints
    self.mask = mask
  }

  /// Makes a detection in a picture of that size as it is seen.
  public init(category: Category, boundingBox: BoundingBox, imageWidth: Int, imageHeight: Int) {
    self.init(
      category: category, boundingBox: boundingBox,
      rect: boundingBox.rect(width: imageWidth, height: imageHeight))
  }

  /// The class as the model counts it.
  public var index: Int { category.index }

  /// How sure the model is.
  public var score: Float { category.score }

  /// The name of what was found, where it has one.
  public var label: String? { category.label }
}

extension Detection: Encodable {
  private enum CodingKeys: CodingKey {
    case label, index, score, box, keypoints, mask
    case displayName
  }

  /// Encodes `label` (null where there is none), `index`, `score` and `box` in pixels; `keypoints` and `mask` where the
  /// model gives them.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(label, forKey: .label)
    try container.encodeIfPresent(category.displayName, forKey: .displayName)
    try container.encode(index, forKey: .index)
    try container.encode(score, forKey: .score)
    try container.encode(rect, forKey: .box)
    if !keypoints.isEmpty { try container.encode(keypoints, forKey: .keypoints) }
    try container.encodeIfPresent(mask, forKey: .mask)
  }
}
