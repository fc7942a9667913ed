/// One class that a model named, with its score.
public struct Category: Hashable, Sendable {
  /// The class as the model counts it, from 0.
  public var index: Int
  /// How sure the model is; 0 to 1 for most models.
  public var score: Float
  /// The name from the label map; nil where the map has none.
  public var label: String?

  /// Makes a category.
  public init(index: Int, score: Float, label: String? = nil) {
    self.index = index
    self.score = score
    self.label = label
  }

  /// The label, or `class 7` where there is none.
  public var name: String { label ?? "class \(index)" }
}
