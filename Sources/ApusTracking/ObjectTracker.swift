// SPDX-License-Identifier: Apache-2.0

/// Follows objects from frame to frame: boxes in, numbered tracks out.
///
/// ```swift
/// var tracker = try ObjectTracker()
/// for frame in frames {
///   for track in try tracker.update(detections(of: frame)) where track.state == .tracked {
///     show(track.id, track.box)
///   }
/// }
/// ```
///
/// A tracker is a value: a copy goes its own way, and an encoded one continues where it was. The same detections give the same tracks on
/// every machine. A frame of 50 objects takes some 20 µs.
public struct ObjectTracker: Hashable, Sendable, Codable {
  /// The method and its thresholds.
  public let options: Options

  private var objects: [TrackedObject] = []
  private var lastID = 0
  private var lastTime: Double?
  /// The latest time between two frames, in seconds.
  private var lastStep: Double?

  /// Makes a tracker without tracks.
  ///
  /// - Parameter options: The method and its thresholds. By default, every detection can start a track: detectors leave out what they doubt.
  /// - Throws: `invalidArgument` for an option outside its range.
  public init(options: Options = .byteTrack.withoutScoreThresholds) throws(TrackingError) {
    try options.check()
    self.options = options
  }

  /// Makes a tracker without tracks.
  ///
  /// - Throws: `invalidArgument` for an option outside its range.
  public init(_ options: Options) throws(TrackingError) { try self.init(options: options) }

  /// All confirmed tracks, those that are lost included, by number.
  public var tracks: [Track] {
    objects.compactMap(\.track).sorted { $0.id < $1.id }
  }

  /// Whether there is nothing to follow, confirmed or not; frames without detections then change nothing.
  public var isIdle: Bool { objects.isEmpty }

  /// Takes the detections of the next frame.
  ///
  /// - Parameters:
  ///   - detections: The boxes of the frame, in any order and unit, but the same unit for all frames.
  ///   - time: The frame's time in seconds, for sources whose frames are not equally far apart; nil for one nominal frame after the last.
  ///     A second frame of the same time corrects the tracks, but does not move them.
  /// - Returns: All confirmed tracks, those that are lost included, by number.
  /// - Throws: `invalidDetection`, `invalidTime` or `resourceLimit`; the tracker is then as it was.
  @discardableResult
  public mutating func update(_ detections: [TrackingDetection], at time: Double? = nil) throws(TrackingError)
    -> [Track]
  {
    try update(detections, positions: nil, at: time)
  }

  /// Takes detections whose positions are those in another list, which has further ones; nil for their own positions.
  package mutating func update(_ detections: [TrackingDetection], positions: [Int]?, at time: Double?)
    throws(TrackingError) -> [Track]
  {
    try check(detections)
    let step = try step(to: time)
    if let seconds = step.seconds { removeOverdue(after: seconds) }
    if let lastTime, let time, time > lastTime { lastStep = time - lastTime }
    lastTime = time

    for index in objects.indices { objects[index].predict(step) }
    objects.removeAll { !$0.motion.isUsable }

    let all = Array(objects.indices)
    switch options.method {
    case .sort:
      let (_, left) = match(all, with: Array(detections.indices), of: detections)
      start(left, of: detections)
    case .byteTrack:
      let isHigh = detections.map { $0.score >= options.highScore }
      let (unmatched, left) = match(all, with: detections.indices.filter { isHigh[$0] }, of: detections)
      _ = match(unmatched, with: detections.indices.filter { !isHigh[$0] }, of: detections)
      start(left, of: detections)
    }
    removeLost(usesTime: step.seconds != nil)
    if let positions {
      for index in objects.indices {
        if let own = objects[index].detectionIndex { objects[index].detectionIndex = positions[own] }
      }
    }
    return tracks
  }

  /// Ends all tracks, as at a cut of the film. Numbers go on.
  public mutating func removeAll() {
    objects = []
    lastTime = nil
    lastStep = nil
  }

  // MARK: - The steps

  private func check(_ detections: [TrackingDetection]) throws(TrackingError) {
    guard detections.count <= options.maximumDetections else {
      throw TrackingError(
        .resourceLimit,
        "\(detections.count) detections in a frame are more than the limit of \(options.maximumDetections)")
    }
    for (index, detection) in detections.enumerated() {
      let box = detection.box
      guard box.isUsable else {
        throw TrackingError(
          .invalidDetection,
          """
          detection \(index) has the edges \(box.minX), \(box.minY), \(box.maxX), \(box.maxY), \
          not those of a box with a positive width and height within ±1e9
          """)
      }
      guard detection.score.isFinite else {
        throw TrackingError(
          .invalidDetection, "detection \(index) has the score \(detection.score), not a finite number")
      }
    }
  }

  private func step(to time: Double?) throws(TrackingError) -> FrameStep {
    guard let time else { return .single }
    guard time.isFinite, abs(time) <= 1e12 else {
      throw TrackingError(.invalidTime, "the frame's time is \(time), not a number of seconds within ±1e12")
    }
    guard let lastTime else { return FrameStep(seconds: 1 / options.frameRate, frameRate: options.frameRate) }
    guard time >= lastTime else {
      throw TrackingError(
        .invalidTime, "the frame's time is \(time), before that of the last frame, \(lastTime)")
    }
    return FrameStep(seconds: time - lastTime, frameRate: options.frameRate)
  }

  /// Removes the tracks that cannot come back in a frame whose time is given, since they are lost for too long.
  ///
  /// A track that was seen in the last frame can, however far apart frames are: at less than one look in ``Options/maximumLostTime`` there
  /// would be no tracks otherwise. A pause in the frames, as after a stream was interrupted, ends all tracks.
  private mutating func removeOverdue(after seconds: Double) {
    let isPause = seconds > options.lostTimeLimit && seconds > 2 * (lastStep ?? .infinity)
    objects.removeAll { object in
      object.framesSinceHit == 0 ? isPause : object.secondsSinceHit + seconds > options.lostTimeLimit
    }
  }

  /// Matches some objects with some detections, and returns those of both that are left, in order.
  private mutating func match(_ rows: [Int], with columns: [Int], of detections: [TrackingDetection])
    -> (objects: [Int], detections: [Int])
  {
    let isWithinClass = options.matchesWithinClass
    let matching = OverlapMatching(
      rows.map { .init(box: objects[$0].box, group: isWithinClass ? objects[$0].classIndex : 0) },
      columns.map { .init(box: detections[$0].box, group: isWithinClass ? detections[$0].classIndex : 0) },
      minimum: options.minimumOverlap)
    for (row, column) in matching.detections.enumerated() {
      guard let column else { continue }
      let index = rows[row]
      objects[index].update(detections[columns[column]], at: columns[column])
      let hits = options.method == .sort ? objects[index].hits : objects[index].consecutiveHits
      if objects[index].id == nil, hits >= options.minimumHits {
        lastID += 1
        objects[index].id = lastID
      }
    }
    return (
      rows.indices.filter { matching.detections[$0] == nil }.map { rows[$0] },
      columns.indices.filter { matching.tracks[$0] == nil }.map { columns[$0] }
    )
  }

  private mutating func start(_ indices: [Int], of detections: [TrackingDetection]) {
    let coordinates: BoxMotion.Coordinates = options.method == .sort ? .centerAreaRatio : .edges
    for index in indices where detections[index].score >= options.activationScore {
      objects.append(TrackedObject(detections[index], coordinates))
    }
  }

  private mutating func removeLost(usesTime: Bool) {
    objects.removeAll { object in
      let hits = options.method == .sort ? object.hits : object.consecutiveHits
      let isMature = object.id != nil || hits >= options.minimumHits
      if object.framesSinceHit > 0, !isMature { return true }
      return usesTime
        ? object.secondsSinceHit > options.lostTimeLimit : object.framesSinceHit > options.maximumLostFrames
    }
    let limit = 8 * options.maximumDetections
    if objects.count > limit {
      let byLoss = objects.indices.sorted {
        (objects[$0].framesSinceHit, $0) < (objects[$1].framesSinceHit, $1)
      }
      objects = byLoss.prefix(limit).sorted().map { objects[$0] }
    }
  }
}

extension ObjectTracker {
  private enum CodingKeys: CodingKey {
    case options, objects, lastID, lastTime, lastStep
  }

  /// Decodes a tracker, and checks it as if its values came from a stranger.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    options = try container.decode(Options.self, forKey: .options)
    objects = try container.decode([TrackedObject].self, forKey: .objects)
    lastID = try container.decode(Int.self, forKey: .lastID)
    lastTime = try container.decodeIfPresent(Double.self, forKey: .lastTime)
    lastStep = try container.decodeIfPresent(Double.self, forKey: .lastStep)
    try options.check()
    let areUsable = objects.allSatisfy { object in
      object.motion.isUsable && isCount(object.age) && isCount(object.hits)
        && isCount(object.consecutiveHits) && isCount(object.framesSinceHit)
        && object.secondsSinceHit.isFinite && (object.id.map { (1...max(lastID, 1)).contains($0) } ?? true)
    }
    guard areUsable, isCount(lastID), lastTime?.isFinite ?? true,
      (lastStep ?? 1).isFinite, (lastStep ?? 1) > 0, objects.count <= 8 * options.maximumDetections
    else { throw impossibleState("tracker's", container.codingPath) }
  }
}
