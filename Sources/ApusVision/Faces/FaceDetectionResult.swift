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
  private enum CodingKeys: String, CodingKey {
    case faces
    case timings = "milliseconds"
  }

  /// Encodes `faces` and `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(faces, forKey: .faces)
    try container.encode(timings, forKey: .timings)
  }
}

extension FaceDetectionResult: TimedResult {}
