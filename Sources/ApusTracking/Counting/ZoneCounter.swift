// SPDX-License-Identifier: Apache-2.0

/// Watches a polygon: which tracks are inside, who entered and left, and for how long they stayed.
///
/// ```swift
/// var queue = try ZoneCounter(polygon: corners)
/// for event in try queue.update(tracker.tracks, at: seconds) { print(event.kind, event.trackID, event.dwell) }
/// print(queue.occupancy, queue.entries)
/// ```
///
/// A track is inside while its anchor is. It enters once it was inside for ``minimumCrossingFrames`` frames running, also if it first
/// appears there, and leaves once it was outside for as many, or absent for ``maximumAbsentFrames``.
public struct ZoneCounter: Hashable, Sendable, Codable {
  /// The maximum number of corners.
  public static let maximumCorners = 1000

  /// The corners in order; sides may cross, and what an even number of sides encloses is outside.
  public let polygon: [TrackingPoint]
  /// The point of a box that must be inside.
  public let anchor: BoxAnchor
  /// The frames running that make an entry or an exit.
  public let minimumCrossingFrames: Int
  /// The frames without a track after which it has left.
  public let maximumAbsentFrames: Int

  /// The tracks that entered so far, each as often as it did.
  public private(set) var entries = 0
  /// The tracks that left so far.
  public private(set) var exits = 0
  /// The seconds that all tracks that left had stayed, together.
  public private(set) var totalDwell = 0.0
  /// The longest stay of a track that left, in seconds.
  public private(set) var longestDwell = 0.0

  private var visits: [Int: Visit] = [:]
  private var lastTime: Double?

  /// Makes a counter.
  ///
  /// - Parameters:
  ///   - polygon: The corners in order, 3 to ``maximumCorners``.
  ///   - anchor: The point of a box that must be inside.
  ///   - minimumCrossingFrames: The frames running that make an entry or an exit, 1 to 10,000.
  ///   - maximumAbsentFrames: The frames without a track after which it has left.
  /// - Throws: `invalidArgument`.
  public init(
    polygon: [TrackingPoint], anchor: BoxAnchor = .bottomCenter, minimumCrossingFrames: Int = 1,
    maximumAbsentFrames: Int = 30
  ) throws(TrackingError) {
    guard (3...Self.maximumCorners).contains(polygon.count) else {
      throw TrackingError(
        .invalidArgument, "a zone has \(polygon.count) corners, not 3 to \(Self.maximumCorners)")
    }
    if let corner = polygon.first(where: { !$0.isUsable }) {
      throw TrackingError(
        .invalidArgument, "a zone has the corner (\(corner.x), \(corner.y)), not one within ±1e9")
    }
    try checkFrames(minimumCrossingFrames, maximumAbsentFrames)
    self.polygon = polygon
    self.anchor = anchor
    self.minimumCrossingFrames = minimumCrossingFrames
    self.maximumAbsentFrames = maximumAbsentFrames
  }

  /// The number of tracks inside.
  public var occupancy: Int { visits.values.count { $0.isInside } }

  /// The tracks inside, by number.
  public var trackIDs: [Int] { visits.filter(\.value.isInside).keys.sorted() }

  /// The seconds that a track has been inside; nil if it is not.
  public func dwell(of trackID: Int) -> Double? {
    visits[trackID].flatMap { $0.isInside ? $0.lastInside - $0.entryTime : nil }
  }

  /// Takes the tracks of the next frame, and returns who entered or left with it, by number.
  ///
  /// - Parameters:
  ///   - tracks: The tracks, with boxes in the unit of the polygon. Lost tracks count as absent.
  ///   - time: The frame's time in seconds, not before the last one.
  /// - Throws: `invalidTime`; the counter is then as it was.
  public mutating func update(_ tracks: [Track], at time: Double) throws(TrackingError) -> [ZoneEvent] {
    try update(tracks, at: time, areAll: false)
  }

  /// Takes the tracks of the next frame, and returns who entered or left with it, by number.
  ///
  /// - Parameters:
  ///   - tracks: The tracks, with boxes in the unit of the polygon. Lost tracks count as absent.
  ///   - time: The frame's time in seconds, not before the last one.
  ///   - areAll: Whether these are all tracks that a tracker remembers, lost ones included. Then a track has left when the tracker has
  ///     forgotten it, whatever ``maximumAbsentFrames`` is.
  /// - Throws: `invalidTime`; the counter is then as it was.
  package mutating func update(_ tracks: [Track], at time: Double, areAll: Bool) throws(TrackingError)
    -> [ZoneEvent]
  {
    guard time.isFinite, time >= lastTime ?? time else {
      throw TrackingError(
        .invalidTime, "the frame's time is \(time), not a finite one from \(lastTime ?? 0) seconds on")
    }
    lastTime = time
    var seen: [Int: Track] = [:]
    for track in tracks where track.state == .tracked { seen[track.id] = track }
    let remembered = areAll ? Set(tracks.map(\.id)) : []
    var events: [ZoneEvent] = []
    for id in Set(seen.keys).union(visits.keys).sorted() {
      let kind: ZoneEvent.Kind?
      var visit = visits[id] ?? Visit()
      if let track = seen[id] {
        visit.classIndex = track.classIndex
        kind = visit.note(
          isInside: contains(anchor.point(of: track.box)), at: time, minimum: minimumCrossingFrames)
      } else if remembered.contains(id) {
        kind = nil
      } else {
        kind = visit.noteAbsence(maximum: areAll ? 1 : maximumAbsentFrames)
      }
      if let kind { events.append(count(kind, id, visit)) }
      visits[id] = visit.isOver ? nil : visit
    }
    return events
  }

  /// Ends all visits, as at the end of a film, and returns those who left, by number.
  public mutating func finish() -> [ZoneEvent] {
    let events = visits.filter(\.value.isInside).sorted { $0.key < $1.key }.map {
      count(.left, $0.key, $0.value)
    }
    visits = [:]
    return events
  }

  private mutating func count(_ kind: ZoneEvent.Kind, _ id: Int, _ visit: Visit) -> ZoneEvent {
    let dwell = visit.lastInside - visit.entryTime
    switch kind {
    case .entered: entries += 1
    case .left:
      exits += 1
      totalDwell += dwell
      longestDwell = max(longestDwell, dwell)
    }
    return ZoneEvent(
      kind: kind, trackID: id, classIndex: visit.classIndex, entryTime: visit.entryTime, dwell: dwell)
  }

  /// Whether a point is inside: a ray to the right meets an odd number of sides. Of points on a side, those on the left and top are inside.
  public func contains(_ point: TrackingPoint) -> Bool { Self.contains(point, in: polygon) }

  /// Whether a point is inside a polygon, as ``contains(_:)`` decides.
  package static func contains(_ point: TrackingPoint, in polygon: [TrackingPoint]) -> Bool {
    var isInside = false
    var previous = polygon[polygon.count - 1]
    for corner in polygon {
      if (corner.y > point.y) != (previous.y > point.y) {
        let x = corner.x + (point.y - corner.y) / (previous.y - corner.y) * (previous.x - corner.x)
        if point.x < x { isInside.toggle() }
      }
      previous = corner
    }
    return isInside
  }
}

extension ZoneCounter {
  private enum CodingKeys: CodingKey {
    case polygon, anchor, minimumCrossingFrames, maximumAbsentFrames, entries, exits, totalDwell,
      longestDwell, visits, lastTime
  }

  /// Decodes a counter, and checks it as if its values came from a stranger.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      polygon: container.decode([TrackingPoint].self, forKey: .polygon),
      anchor: container.decode(BoxAnchor.self, forKey: .anchor),
      minimumCrossingFrames: container.decode(Int.self, forKey: .minimumCrossingFrames),
      maximumAbsentFrames: container.decode(Int.self, forKey: .maximumAbsentFrames))
    entries = try container.decode(Int.self, forKey: .entries)
    exits = try container.decode(Int.self, forKey: .exits)
    totalDwell = try container.decode(Double.self, forKey: .totalDwell)
    longestDwell = try container.decode(Double.self, forKey: .longestDwell)
    visits = try container.decode([Int: Visit].self, forKey: .visits)
    lastTime = try container.decodeIfPresent(Double.self, forKey: .lastTime)
    guard isCount(entries), isCount(exits), totalDwell.isFinite, longestDwell.isFinite,
      lastTime?.isFinite ?? true, visits.values.allSatisfy(\.isUsable)
    else { throw impossibleState("zone's", container.codingPath) }
  }
}

/// The state of a track near a zone.
private struct Visit: Hashable, Sendable, Codable {
  /// Whether the track has entered, and not left.
  private(set) var isInside = false
  private(set) var entryTime = 0.0
  private(set) var lastInside = 0.0
  var classIndex = 0
  /// The frames running that contradict ``isInside``.
  private var framesAgainst = 0
  private var absentFrames = 0

  /// Whether the numbers are possible.
  var isUsable: Bool {
    isCount(framesAgainst) && isCount(absentFrames) && entryTime.isFinite && lastInside.isFinite
  }

  /// Whether there is nothing to remember.
  var isOver: Bool { !isInside && framesAgainst == 0 }

  mutating func note(isInside seenInside: Bool, at time: Double, minimum: Int) -> ZoneEvent.Kind? {
    absentFrames = 0
    if seenInside {
      if !isInside, framesAgainst == 0 { entryTime = time }
      lastInside = time
    }
    guard seenInside != isInside else {
      framesAgainst = 0
      return nil
    }
    framesAgainst += 1
    guard framesAgainst >= minimum else { return nil }
    isInside = seenInside
    framesAgainst = 0
    return seenInside ? .entered : .left
  }

  mutating func noteAbsence(maximum: Int) -> ZoneEvent.Kind? {
    absentFrames += 1
    guard absentFrames >= maximum else { return nil }
    let wasInside = isInside
    isInside = false
    framesAgainst = 0
    return wasInside ? .left : nil
  }
}
