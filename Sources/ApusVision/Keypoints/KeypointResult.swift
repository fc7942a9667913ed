// SPDX-License-Identifier: Apache-2.0

/// The poses in a picture.
public struct KeypointResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The poses, best first.
  public var poses: [Pose]
  /// The time of each stage.
  public var timings = StageTimings()

  /// Makes a result.
  public init(imageWidth: Int, imageHeight: Int, poses: [Pose], timings: StageTimings = StageTimings()) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.poses = poses
    self.timings = timings
  }
}

extension KeypointResult {
  private enum CodingKeys: String, CodingKey {
    case poses
    case timings = "milliseconds"
  }

  /// Encodes `poses` and `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(poses, forKey: .poses)
    try container.encode(timings, forKey: .timings)
  }
}

extension KeypointResult: TimedResult {}
