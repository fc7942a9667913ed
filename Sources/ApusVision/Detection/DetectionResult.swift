// SPDX-License-Identifier: Apache-2.0

/// A detector's result for a picture.
public struct DetectionResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The objects, best first; equal scores stay in the model's order.
  public var detections: [Detection]
  /// The time of each stage.
  public var timings = StageTimings()

  /// Makes a result.
  public init(
    imageWidth: Int, imageHeight: Int, detections: [Detection], timings: StageTimings = StageTimings()
  ) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.detections = detections
    self.timings = timings
  }

  private enum CodingKeys: String, CodingKey {
    case imageWidth = "width"
    case imageHeight = "height"
    case detections
    case timings = "milliseconds"
  }
}

extension DetectionResult: TimedResult {}
