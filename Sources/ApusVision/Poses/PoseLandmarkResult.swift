// SPDX-License-Identifier: Apache-2.0

/// The people of a picture, with the points of their bodies.
public struct PoseLandmarkResult: LandmarkResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The people: those that the detector is surest of first; in frames, those that were tracked.
  public var poses: [BodyPose]
  /// The time of each stage of both models.
  public var timings = StageTimings()

  /// The people.
  public var subjects: [BodyPose] {
    get { poses }
    set { poses = newValue }
  }
}

extension PoseLandmarkResult: Encodable {
  /// What is encoded: the size of the picture is not.
  private enum CodingKeys: String, CodingKey {
    case poses
    case timings = "milliseconds"
  }
}
