// SPDX-License-Identifier: Apache-2.0

/// The embeddings of a picture.
public struct EmbeddingResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// One embedding for each output of the model; most have one.
  public var embeddings: [Embedding]
  /// The time of each stage.
  public var timings = StageTimings()

  /// Makes a result.
  public init(
    imageWidth: Int, imageHeight: Int, embeddings: [Embedding], timings: StageTimings = StageTimings()
  ) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.embeddings = embeddings
    self.timings = timings
  }
}

extension EmbeddingResult: Encodable {
  private enum CodingKeys: String, CodingKey {
    case embeddings
    case timings = "milliseconds"
  }

  /// Encodes `embeddings`, an array of numbers for each output, and `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    // Numbers one by one: of an array, an encoder casts each of them.
    var rows = container.nestedUnkeyedContainer(forKey: .embeddings)
    for embedding in embeddings {
      var row = rows.nestedUnkeyedContainer()
      for value in embedding.values { try row.encode(value) }
    }
    try container.encode(timings, forKey: .timings)
  }
}

extension EmbeddingResult: TimedResult {}
