// SPDX-License-Identifier: Apache-2.0

/// What a detector found in a picture.
public struct DetectionResult: VisionResult, Hashable {
  /// The width of the picture as it is seen, in pixels.
  public let imageWidth: Int
  /// The height of the picture as it is seen, in pixels.
  public let imageHeight: Int
  /// The objects, best first; equal scores stay in the model's order.
  public var detections: [Detection]
  /// How long the stages took.
  public var timings: StageTimings

  private enum CodingKeys: String, CodingKey {
    case imageWidth = "width"
    case imageHeight = "height"
    case detections
    case timings = "milliseconds"
  }
}
