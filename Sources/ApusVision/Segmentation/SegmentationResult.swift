// SPDX-License-Identifier: Apache-2.0

/// The class of each pixel of a picture.
public struct SegmentationResult: VisionResult, Hashable {
  /// A class in a picture, with its share of the pixels that the model saw.
  public struct Share: Hashable, Codable, Sendable {
    /// The class as the model counts it.
    public var index: Int
    /// The name; nil if there is none.
    public var label: String?
    /// The share of the pixels that the model saw, above 0 and at most 1: those of the region, without what is cut away to fit the input.
    public var share: Double

    /// Makes the share of a class.
    public init(index: Int, label: String? = nil, share: Double) {
      self.index = index
      self.label = label
      self.share = share
    }

    private enum CodingKeys: CodingKey {
      case index, label, share
    }

    /// Encodes `index`, `label` (null if there is none) and `share`.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(index, forKey: .index)
      try container.encode(label, forKey: .label)
      try container.encode(share, forKey: .share)
    }
  }

  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The class of each pixel of the picture after orientation, row by row. Empty if only confidence masks are requested.
  ///
  /// Pixels that the model did not see, outside a region or cut away to fit the input, have the class of the nearest pixel that it saw.
  public var categoryMask: [UInt16]
  /// How many classes the model can answer with, as its output's channels, type or last operators say; 65,536 where they do not.
  ///
  /// It is the same for every picture, so that it can decide how a mask is stored.
  public let classCount: Int
  /// For each class: the model's score at each pixel; empty unless requested.
  public var confidenceMasks: [[Float]]
  /// The classes of the pixels that the model saw, the largest first.
  public var classes: [Share]
  /// The time of each stage.
  public var timings = StageTimings()
  /// The mask in the size of the model's input, for models that take it with the next picture; otherwise empty.
  var inputMask: [UInt8] = []

  /// Makes a result.
  public init(
    imageWidth: Int, imageHeight: Int, categoryMask: [UInt16], classCount: Int,
    confidenceMasks: [[Float]] = [], classes: [Share] = [], timings: StageTimings = StageTimings()
  ) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.categoryMask = categoryMask
    self.classCount = classCount
    self.confidenceMasks = confidenceMasks
    self.classes = classes
    self.timings = timings
  }

  /// The class of a pixel; nil outside the picture, and without a mask of its size.
  public func category(x: Int, y: Int) -> Int? {
    guard x >= 0, y >= 0, x < imageWidth, y < imageHeight, categoryMask.count == imageWidth * imageHeight
    else { return nil }
    return Int(categoryMask[y * imageWidth + x])
  }
}

extension SegmentationResult {
  private enum CodingKeys: String, CodingKey {
    case classes
    case timings = "milliseconds"
  }

  /// Encodes `classes` and `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(classes, forKey: .classes)
    try container.encode(timings, forKey: .timings)
  }
}

extension SegmentationResult: TimedResult {}
