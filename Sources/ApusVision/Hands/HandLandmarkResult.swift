// SPDX-License-Identifier: Apache-2.0

/// The hands of a picture.
public struct HandLandmarkResult: LandmarkResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The hands: those that the detector is surest of first; in frames, those that were tracked.
  public var hands: [Hand]
  /// The time of each stage of both models.
  public var timings = StageTimings()

  /// Makes a result.
  public init(imageWidth: Int, imageHeight: Int, hands: [Hand], timings: StageTimings = StageTimings()) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.hands = hands
    self.timings = timings
  }

  /// The hands.
  public var subjects: [Hand] {
    get { hands }
    set { hands = newValue }
  }
}

extension HandLandmarkResult: Encodable {
  /// The encoded properties: all but the size of the picture.
  private enum CodingKeys: String, CodingKey {
    case hands
    case timings = "milliseconds"
  }
}
