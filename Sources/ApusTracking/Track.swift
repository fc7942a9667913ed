// SPDX-License-Identifier: Apache-2.0

/// One object that an ``ObjectTracker`` follows.
public struct Track: Hashable, Identifiable, Sendable, Codable {
  /// Whether the object was seen in the latest frame.
  public enum State: String, Hashable, Sendable, Codable {
    /// A detection of the latest frame belongs to the track.
    case tracked
    /// No detection of the latest frame belongs to the track; its box is predicted.
    case lost
  }

  /// The track's number, from 1 in order of confirmation. A tracker never uses a number twice.
  public let id: Int
  /// The filter's estimate of the box after the latest frame, in the unit of the detections.
  public let box: TrackingBox
  /// The movement of the box's center, in the unit of the detections per nominal frame.
  public let velocity: TrackingPoint
  /// The class of the latest detection.
  public let classIndex: Int
  /// The score of the latest detection.
  public let score: Double
  /// The frames since the track's first detection.
  public let age: Int
  /// The detections that belong to the track.
  public let hits: Int
  /// The frames since the latest detection; 0 if the object was seen in the latest frame.
  public let framesSinceHit: Int
  /// The position of the track's detection in the latest call of ``ObjectTracker/update(_:at:)``; nil if the track is lost.
  public let detectionIndex: Int?

  /// Whether the object was seen in the latest frame.
  public var state: State { detectionIndex == nil ? .lost : .tracked }

  /// Makes a track.
  public init(
    id: Int, box: TrackingBox, velocity: TrackingPoint = TrackingPoint(x: 0, y: 0), classIndex: Int = 0,
    score: Double = 1, age: Int = 0, hits: Int = 1, framesSinceHit: Int = 0, detectionIndex: Int? = nil
  ) {
    self.id = id
    self.box = box
    self.velocity = velocity
    self.classIndex = classIndex
    self.score = score
    self.age = age
    self.hits = hits
    self.framesSinceHit = framesSinceHit
    self.detectionIndex = detectionIndex
  }
}
