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

  /// Makes a result.
  public init(imageWidth: Int, imageHeight: Int, poses: [BodyPose], timings: StageTimings = StageTimings()) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.poses = poses
    self.timings = timings
  }

  /// The people.
  public var subjects: [BodyPose] {
    get { poses }
    set { poses = newValue }
  }
}

extension PoseLandmarkResult: Encodable {
  /// The encoded properties: all but the size of the picture.
  private enum CodingKeys: String, CodingKey {
    case poses
    case timings = "milliseconds"
  }
}
