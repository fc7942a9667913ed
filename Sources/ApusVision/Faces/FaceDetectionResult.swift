// SPDX-License-Identifier: Apache-2.0

/// The faces of a picture.
public struct FaceDetectionResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The faces, best first.
  public var faces: [Face]
  /// The time of each stage.
  public var timings = StageTimings()
}

extension FaceDetectionResult: Encodable {
  /// What is encoded: the size of the picture is not.
  private enum CodingKeys: String, CodingKey {
    case faces
    case timings = "milliseconds"
  }
}

extension FaceDetectionResult: TimedResult {}
