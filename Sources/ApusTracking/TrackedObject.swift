// SPDX-License-Identifier: Apache-2.0

/// A tracker's record of an object, confirmed or not.
struct TrackedObject: Hashable, Sendable, Codable {
  /// The number; nil until the object is confirmed.
  var id: Int?
  var motion: BoxMotion
  /// The box after the latest prediction or correction.
  var box: TrackingBox
  var classIndex: Int
  var score: Double
  /// The frames since the first detection.
  var age = 0
  /// All detections.
  var hits = 1
  /// The detections without a frame between them.
  var consecutiveHits = 1
  var framesSinceHit = 0
  /// The seconds since the latest detection, as far as times were given.
  var secondsSinceHit = 0.0
  /// The position among the latest frame's detections.
  var detectionIndex: Int?

  /// Starts with a detection.
  init(_ detection: TrackingDetection, _ coordinates: BoxMotion.Coordinates) {
    motion = BoxMotion(detection.box, coordinates)
    box = detection.box
    classIndex = detection.classIndex
    score = detection.score
  }

  /// Moves on to the next frame.
  mutating func predict(_ step: FrameStep) {
    if step.frames > 0 {
      motion.predict(step.frames, isNominal: step.isNominal)
      box = motion.box
      if framesSinceHit > 0 { consecutiveHits = 0 }
      framesSinceHit += 1
      age += 1
      secondsSinceHit = step.seconds.map { secondsSinceHit + $0 } ?? 0
    }
    detectionIndex = nil
  }

  /// Takes a detection of the present frame.
  mutating func update(_ detection: TrackingDetection, at index: Int) {
    motion.update(detection.box)
    box = motion.box
    classIndex = detection.classIndex
    score = detection.score
    hits += 1
    consecutiveHits += 1
    framesSinceHit = 0
    secondsSinceHit = 0
    detectionIndex = index
  }

  /// The public form; nil until the object is confirmed.
  var track: Track? {
    guard let id else { return nil }
    return Track(
      id: id, box: box, velocity: motion.velocity, classIndex: classIndex, score: score, age: age, hits: hits,
      framesSinceHit: framesSinceHit, detectionIndex: detectionIndex)
  }
}

/// The time from one frame to the next.
struct FrameStep {
  /// In nominal frames; 0 for a second frame of the same time.
  let frames: Double
  /// In seconds; nil where no times are given.
  let seconds: Double?
  /// Whether the step is one frame, give or take 4 ms.
  let isNominal: Bool

  /// One frame, where no times are given.
  static let single = FrameStep(frames: 1, seconds: nil, isNominal: true)

  /// A step of the given duration in seconds.
  init(seconds: Double, frameRate: Double) {
    frames = seconds * frameRate
    self.seconds = seconds
    isNominal = abs(frames - 1) <= 0.004 * frameRate
  }

  private init(frames: Double, seconds: Double?, isNominal: Bool) {
    self.frames = frames
    self.seconds = seconds
    self.isNominal = isNominal
  }
}
