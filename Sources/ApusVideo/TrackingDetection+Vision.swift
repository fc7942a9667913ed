// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ApusVision

extension TrackingDetection {
  /// Converts a detector's result, in pixels; nil if its box is empty, inverted, not finite or beyond ±10⁸
  /// pixels, or its score is not finite. No tracker takes such a detection.
  public init?(_ detection: Detection) {
    let rect = detection.rect
    self.init(
      box: TrackingBox(
        minX: Double(rect.x), minY: Double(rect.y), maxX: Double(rect.maxX), maxY: Double(rect.maxY)),
      score: Double(detection.score), classIndex: detection.index)
    guard box.width > 0, box.height > 0, abs(box.minX) <= 1e8, abs(box.minY) <= 1e8, abs(box.maxX) <= 1e8,
      abs(box.maxY) <= 1e8, score.isFinite
    else { return nil }
  }
}
