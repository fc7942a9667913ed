// SPDX-License-Identifier: Apache-2.0

/// One class that a model named, with its score.
public struct Category: Hashable, Sendable {
  /// The class as the model counts it, from 0.
  public var index: Int
  /// How sure the model is; 0 to 1 for most models.
  public var score: Float
  /// The name from the label map; nil where the map has none.
  public var label: String?
  /// The name in the language that was asked for; nil where the metadata has none.
  public var displayName: String?

  /// Makes a category.
  public init(index: Int, score: Float, label: String? = nil, displayName: String? = nil) {
    self.index = index
    self.score = score
    self.label = label
    self.displayName = displayName
  }

  /// The display name, else the label, or `class 7` where there is none.
  public var name: String { displayName ?? label ?? "class \(index)" }
}
