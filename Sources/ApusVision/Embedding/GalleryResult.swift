// SPDX-License-Identifier: Apache-2.0

/// The known names in a picture.
public struct GalleryResult: VisionResult, Hashable {
  /// A face or a whole picture with the nearest known embedding.
  public struct Match: Hashable, Sendable {
    /// The name; nil for unknown.
    public var name: String?
    /// The Euclidean distance; nil in an empty gallery, and for an embedding of zeros.
    public var distance: Double?
    /// The face, in pixels of the picture after orientation; nil for the whole picture.
    public var box: PixelRect?

    /// Makes a match.
    public init(name: String?, distance: Double? = nil, box: PixelRect? = nil) {
      self.name = name
      self.distance = distance
      self.box = box
    }
  }

  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The matches: for each face, or for the picture, the nearest first.
  public var matches: [Match]
  /// The time of each stage.
  public var timings: StageTimings

  /// Makes a result.
  public init(imageWidth: Int, imageHeight: Int, matches: [Match], timings: StageTimings = StageTimings()) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.matches = matches
    self.timings = timings
  }
}

extension GalleryResult {
  private enum CodingKeys: CodingKey {
    case matches
  }

  /// Encodes `matches`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(matches, forKey: .matches)
  }
}

extension GalleryResult.Match: Codable {
  private enum CodingKeys: CodingKey {
    case name, distance, box
  }

  /// Encodes `name` (`unknown` without a match), `distance` and `box` (null for the whole picture).
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name ?? "unknown", forKey: .name)
    try container.encode(distance, forKey: .distance)
    try container.encode(box, forKey: .box)
  }

  /// Reads what ``encode(to:)`` writes: no entry of a gallery has the name `unknown`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decode(String.self, forKey: .name)
    self.init(
      name: name == "unknown" ? nil : name,
      distance: try container.decodeIfPresent(Double.self, forKey: .distance),
      box: try container.decodeIfPresent(PixelRect.self, forKey: .box))
  }
}
