// SPDX-License-Identifier: Apache-2.0

/// One class, with its score.
public struct Category: Hashable, Sendable {
  /// The class as the model counts it, from 0.
  public var index: Int
  /// The model's confidence; 0 to 1 for most models.
  public var score: Float
  /// The name from the label map; nil if it has none.
  public var label: String?
  /// The name in the requested language; nil if the metadata has none.
  public var displayName: String?

  /// Makes a category.
  public init(index: Int, score: Float, label: String? = nil, displayName: String? = nil) {
    self.index = index
    self.score = score
    self.label = label
    self.displayName = displayName
  }

  /// The display name, else the label, else a text such as `class 7`.
  public var name: String { displayName ?? label ?? "class \(index)" }
}

extension Category: Codable {
  private enum CodingKeys: CodingKey {
    case index, label, score, displayName
  }

  /// Encodes `index`, `label` (null if there is none), `score`, and the display name if there is one.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(index, forKey: .index)
    try container.encode(label, forKey: .label)
    try container.encode(score, forKey: .score)
    try container.encodeIfPresent(displayName, forKey: .displayName)
  }
}
