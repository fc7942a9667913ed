// SPDX-License-Identifier: Apache-2.0

/// A face and its place among other faces.
public struct EmbeddedFace: Hashable, Sendable {
  /// The face in the picture.
  public var face: Face
  /// The embedding of the aligned face, of length 1.
  public var embedding: Embedding

  /// Makes a face with its embedding.
  public init(face: Face, embedding: Embedding) {
    self.face = face
    self.embedding = embedding
  }
}

extension EmbeddedFace: Encodable {
  private enum CodingKeys: CodingKey {
    case score, box, embedding
  }

  /// Encodes `score`, `box` in pixels, and `embedding`, an array of numbers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(face.score, forKey: .score)
    try container.encode(face.rect, forKey: .box)
    try container.encode(embedding.values, forKey: .embedding)
  }
}

/// The faces of a picture with their embeddings.
public struct FaceEmbeddingResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The faces, best first.
  public var faces: [EmbeddedFace]
  /// The time of each stage, of both models together.
  public var timings = StageTimings()

  /// Makes a result.
  public init(
    imageWidth: Int, imageHeight: Int, faces: [EmbeddedFace], timings: StageTimings = StageTimings()
  ) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.faces = faces
    self.timings = timings
  }
}

extension FaceEmbeddingResult: Encodable {
  /// The properties that are encoded; the size of the picture is not.
  private enum CodingKeys: String, CodingKey {
    case faces
    case timings = "milliseconds"
  }
}
