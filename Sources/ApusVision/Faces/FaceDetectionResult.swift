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

  /// Makes a result.
  public init(imageWidth: Int, imageHeight: Int, faces: [Face], timings: StageTimings = StageTimings()) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.faces = faces
    self.timings = timings
  }
}

extension FaceDetectionResult: Encodable {
  /// The properties that are encoded; the size of the picture is not.
  private enum CodingKeys: String, CodingKey {
    case faces
    case timings = "milliseconds"
  }
}

extension FaceDetectionResult: TimedResult {}
