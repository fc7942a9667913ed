/// One object that a detector found.
public struct Detection: Hashable, Sendable {
  /// What was found, and how surely.
  public var category: Category
  /// Where, in fractions of the picture as it is seen.
  public var boundingBox: BoundingBox
  /// Where, in pixels of the picture as it is seen.
  public var rect: PixelRect

  /// Makes a detection of both forms of its box.
  public init(category: Category, boundingBox: BoundingBox, rect: PixelRect) {
    self.category = category
    self.boundingBox = boundingBox
    self.rect = rect
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
