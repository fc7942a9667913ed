// SPDX-License-Identifier: Apache-2.0

/// One box of a detector, as ``ObjectTracker`` takes it.
public struct TrackingDetection: Hashable, Sendable, Codable {
  /// Where the object is.
  public var box: TrackingBox
  /// The detector's confidence, usually 0 to 1.
  public var score: Double
  /// The object's class as the model counts it.
  public var classIndex: Int

  /// Makes a detection.
  public init(box: TrackingBox, score: Double = 1, classIndex: Int = 0) {
    self.box = box
    self.score = score
    self.classIndex = classIndex
  }
}
