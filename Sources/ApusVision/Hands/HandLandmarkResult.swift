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

  /// The hands.
  public var subjects: [Hand] {
    get { hands }
    set { hands = newValue }
  }
}

extension HandLandmarkResult: Encodable {
  /// What is encoded: the size of the picture is not.
  private enum CodingKeys: String, CodingKey {
    case hands
    case timings = "milliseconds"
  }
}
