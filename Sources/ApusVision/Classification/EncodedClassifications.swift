// SPDX-License-Identifier: Apache-2.0

/// The classes of a model's heads as results are encoded: `classes` of the only head, or `heads` if there are several.
struct EncodedClassifications: Encodable {
  let classifications: [Classifications]
  /// The decision about each head, as text; nil for no decision.
  var decision: ((Classifications?) -> String)?

  private enum CodingKeys: CodingKey {
    case classes, heads
  }

  private struct Head: Encodable {
    let name: String
    let classes: [Category]
    let decision: String?
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    guard classifications.count > 1 else {
      return try container.encode(classifications.first?.categories ?? [], forKey: .classes)
    }
    let heads = classifications.map {
      Head(name: $0.headName, classes: $0.categories, decision: decision?($0))
    }
    try container.encode(heads, forKey: .heads)
  }
}
