// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ApusVision

extension TrackingDetection {
  /// What a detector found, in pixels; nil for a box that is empty, inverted or not finite, which no tracker takes.
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
