// SPDX-License-Identifier: Apache-2.0

/// What a classifier says of a picture.
public struct ClassificationResult: VisionResult, Hashable {
  /// The width of the picture as it is seen, in pixels.
  public let imageWidth: Int
  /// The height of the picture as it is seen, in pixels.
  public let imageHeight: Int
  /// The classes of each head; most models have one.
  public var classifications: [Classifications]
  /// The score that a decision needs; nil where none is wanted.
  public var decisionThreshold: Float?
  /// How long the stages took.
  public var timings: StageTimings

  /// The classes of the first head, best first.
  public var categories: [Category] { classifications.first?.categories ?? [] }
}

extension ClassificationResult: Encodable {
  private enum CodingKeys: String, CodingKey {
    case classes, heads, decision, name
    case timings = "milliseconds"
  }

  private struct Head: Encodable {
    let name: String
    let classes: [Category]
    let decision: String?
  }

  /// Encodes `classes`, or `heads` where there are several; `decision` where a threshold is given; `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    func decision(_ head: Classifications?) -> String? {
      decisionThreshold.map { head?.decision(threshold: $0).text ?? Classifications.Decision.nothing.text }
    }
    if classifications.count > 1 {
      try container.encode(
        classifications.map { Head(name: $0.headName, classes: $0.categories, decision: decision($0)) },
        forKey: .heads)
    } else {
      try container.encode(categories, forKey: .classes)
    }
    try container.encodeIfPresent(decision(classifications.first), forKey: .decision)
    try container.encode(timings, forKey: .timings)
  }
}

extension Category: Encodable {
  private enum CodingKeys: CodingKey {
    case index, label, score, displayName
  }

  /// Encodes `index`, `label` (null where there is none) and `score`; the display name where there is one.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(index, forKey: .index)
    try container.encode(label, forKey: .label)
    try container.encode(score, forKey: .score)
    try container.encodeIfPresent(displayName, forKey: .displayName)
  }
}
