// SPDX-License-Identifier: Apache-2.0
import ApusTracking

extension TrackingDetection {
  /// Converts a detector's result, in pixels; nil if its box is empty, inverted, not finite or beyond ±10⁸
  /// pixels, or its score is not finite. No tracker takes such a detection.
  ///
  /// `ObjectTracker.update(_:at:)` takes a detector's results as they are, and leaves such detections out.
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

extension ObjectTracker {
  /// Takes the results of a detector for the next frame, in pixels. Boxes that are empty, inverted, not finite or beyond ±10⁸ pixels are left
  /// out.
  ///
  /// ```swift
  /// for track in try tracker.update(detections, at: frame.time) {
  ///   if let index = track.detectionIndex { show(track.id, detections[index]) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - detections: All results for the frame; a track's `detectionIndex` is a position among them.
  ///   - time: The frame's time in seconds; nil for one nominal frame after the last.
  /// - Returns: All confirmed tracks, those that are lost included, by number.
  /// - Throws: `invalidTime` or `resourceLimit`; the tracker is then as it was.
  @_disfavoredOverload  // An empty literal is a list of `TrackingDetection`.
  @discardableResult
  public mutating func update(_ detections: [Detection], at time: Double? = nil) throws(TrackingError)
    -> [Track]
  {
    var usable: [TrackingDetection] = []
    var positions: [Int] = []
    for (position, detection) in detections.enumerated() {
      guard let detection = TrackingDetection(detection) else { continue }
      usable.append(detection)
      positions.append(position)
    }
    return try update(usable, positions: positions, at: time)
  }
}
