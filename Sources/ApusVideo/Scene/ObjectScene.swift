// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusTracking
import ApusVision

/// The objects before a camera: their tracks, and who crossed lines, entered zones and left them.
///
/// ```swift
/// var scene = try ObjectScene(
///   lines: [ScenePlace(parsing: "gate:0,0.5,1,0.5")], tracking: .byteTrack.withoutScoreThresholds,
///   width: 1280, height: 720)
/// for try await frame in source {
///   let found = try await detector.detect(frame.picture())
///   for event in try scene.update(found.detections, at: frame.time).events { print(event) }
/// }
/// ```
///
/// An object is at the middle of its box's lower edge. Where the box reaches beyond the picture, it is at the picture's nearest point; the
/// edges of the picture belong to zones that end there.
public struct ObjectScene: Sendable {
  /// An object, with the number of its track.
  public struct Object: Hashable, Encodable, Sendable {
    /// The detector's result.
    public let detection: Detection
    /// The number of its track; nil while it has none.
    public var track: Int?

    /// Makes an object.
    public init(detection: Detection, track: Int? = nil) {
      self.detection = detection
      self.track = track
    }

    private enum CodingKeys: CodingKey { case track }

    /// Encodes the detection, and `track` if there is one.
    public func encode(to encoder: any Encoder) throws {
      try detection.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(track, forKey: .track)
    }
  }

  /// An object's crossing of a line, or its entry into or exit from a zone.
  public struct Event: Hashable, Encodable, Sendable {
    /// `crossed`, `entered` or `left`.
    public let event: String
    /// The name of the line that was crossed.
    public var line: String?
    /// The name of the zone that was entered or left.
    public var zone: String?
    /// `in` or `out`, of a crossing.
    public var direction: String?
    /// The number of the object's track.
    public let track: Int
    /// The name of the object's class; nil if it has none.
    public var label: String?
    /// The object's class as the model counts it.
    public let index: Int
    /// How long the object was in the zone that it left, in seconds.
    public var dwell: Double?
    /// The time of the frame, in seconds.
    public let time: Double

    /// Makes an event.
    public init(
      event: String, line: String? = nil, zone: String? = nil, direction: String? = nil, track: Int,
      label: String? = nil, index: Int, dwell: Double? = nil, time: Double
    ) {
      self.event = event
      self.line = line
      self.zone = zone
      self.direction = direction
      self.track = track
      self.label = label
      self.index = index
      self.dwell = dwell
      self.time = time
    }

    private enum CodingKeys: CodingKey { case event, line, zone, direction, track, label, index, dwell, time }

    /// Encodes what is there, and `label` as null if there is none.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(event, forKey: .event)
      try container.encodeIfPresent(line, forKey: .line)
      try container.encodeIfPresent(zone, forKey: .zone)
      try container.encodeIfPresent(direction, forKey: .direction)
      try container.encode(track, forKey: .track)
      try container.encode(label, forKey: .label)
      try container.encode(index, forKey: .index)
      try container.encodeIfPresent(dwell, forKey: .dwell)
      try container.encode(time, forKey: .time)
    }
  }

  /// The crossings of a line.
  public struct LineCounts: Hashable, Encodable, Sendable {
    /// Crossings to the left as seen from the line's start towards its end.
    public let `in`: Int
    /// Crossings to the right.
    public let out: Int
  }

  /// The counts of a zone.
  public struct ZoneCounts: Hashable, Encodable, Sendable {
    /// The objects that are inside now.
    public let occupancy: Int
    /// The objects that entered so far.
    public let entries: Int
    /// The objects that left so far.
    public let exits: Int
    /// How long those who left were inside on average, in seconds; nil if none left.
    public let meanDwell: Double?
    /// How long the longest stay of those who left was, in seconds.
    public let longestDwell: Double
  }

  private var tracker: ObjectTracker?
  private var labels: [Int: String] = [:]
  /// The lines with their counts, in pixels. They forget a track when the tracker has, whatever their own limits are.
  public private(set) var lines: [(name: String, counter: LineCounter)] = []
  /// The zones with their counts, in pixels. A track has left when the tracker has forgotten it, whatever their own limits are.
  public private(set) var zones: [(name: String, counter: ZoneCounter)] = []
  private let usesTime: Bool
  /// The size of the pictures in whose pixels tracks, lines and zones are.
  package let width, height: Int
  /// The last positions within the pictures.
  private let end: TrackingPoint

  /// Makes a scene for pictures of one size; ``update(_:width:height:at:)`` takes others, too.
  ///
  /// - Parameters:
  ///   - lines: Lines of two points.
  ///   - zones: Zones of three points or more.
  ///   - tracking: How objects are followed; nil not to follow them, and then without lines and zones. Detections below
  ///     `activationScore` count nowhere: see `ObjectTracker.Options.withoutScoreThresholds`.
  ///   - width: The width of the pictures after orientation, in pixels.
  ///   - height: The height of the pictures after orientation, in pixels.
  ///   - crossingFrames: The frames running on the other side that make a crossing, an entry or an exit.
  ///   - usesTime: Whether frames may be unequally far apart; otherwise each is one nominal frame after the last.
  /// - Throws: `invalidArgument` for options that are not possible, and places with which nothing can be counted, such as those beside the
  ///   picture.
  public init(
    lines: [ScenePlace] = [], zones: [ScenePlace] = [], tracking: ObjectTracker.Options?, width: Int,
    height: Int, crossingFrames: Int = 1, usesTime: Bool = true
  ) throws(ApusError) {
    for (kind, places) in [("lines", lines), ("zones", zones)] {
      guard let name = ScenePlace.repeatedName(in: places) else { continue }
      throw ApusError(.invalidArgument, "two \(kind) are called '\(name)'")
    }
    for place in lines { try place.check(calledAs: "the line '\(place.name.prefix(80))'") }
    for place in zones { try place.check(calledAs: "the zone '\(place.name.prefix(80))'") }
    self.usesTime = usesTime
    (self.width, self.height) = (width, height)
    end = TrackingPoint(x: Double(width).nextDown, y: Double(height).nextDown)
    guard let tracking else {
      guard lines.isEmpty && zones.isEmpty else {
        throw ApusError(.invalidArgument, "lines and zones count objects that are followed")
      }
      return
    }
    func scaled(_ place: ScenePlace) -> [TrackingPoint] {
      place.points.map { TrackingPoint(x: $0.x * Double(width), y: $0.y * Double(height)) }
    }
    do {
      tracker = try ObjectTracker(tracking)
      for place in lines {
        let points = scaled(place)
        guard points.count == 2 else {
          throw ApusError(.invalidArgument, "the line '\(place.name)' has \(points.count) points, not 2")
        }
        self.lines.append(
          (
            place.name,
            try LineCounter(from: points[0], to: points[1], minimumCrossingFrames: crossingFrames)
          ))
      }
      for place in zones {
        self.zones.append(
          (
            place.name,
            try ZoneCounter(polygon: scaled(place), minimumCrossingFrames: crossingFrames)
          ))
      }
    } catch let error as ApusError {
      throw error
    } catch {
      guard let error = error as? TrackingError else { throw ApusError(.invalidArgument, "\(error)") }
      throw ApusError(error)
    }
  }

  /// Takes the objects of a frame of any size: a stream that starts again may have another one than before. Tracks, lines and zones keep
  /// their places in the picture.
  ///
  /// - Parameters:
  ///   - detections: What was found.
  ///   - width: The width of the frame after orientation, in pixels.
  ///   - height: The height of the frame after orientation, in pixels.
  ///   - time: The time of the frame, in seconds.
  /// - Returns: The objects with their tracks, in pixels of the frame, and what they did.
  /// - Throws: `invalidArgument` for an empty frame, `invalidTime` for a time that is not finite, or before that of the last frame.
  public mutating func update(_ detections: [Detection], width: Int, height: Int, at time: Double)
    throws(ApusError) -> (objects: [Object], events: [Event])
  {
    if (width, height) == (self.width, self.height) { return try update(detections, at: time) }
    guard width > 0, height > 0 else {
      throw ApusError(.invalidArgument, "a frame of \(width) × \(height) pixels is empty")
    }
    let (x, y) = (Float(self.width) / Float(width), Float(self.height) / Float(height))
    let scaled = detections.map { detection in
      let rect = detection.rect
      return Detection(
        category: detection.category, boundingBox: detection.boundingBox,
        rect: PixelRect(x: rect.x * x, y: rect.y * y, width: rect.width * x, height: rect.height * y))
    }
    let (objects, events) = try update(scaled, at: time)
    return (zip(detections, objects).map { Object(detection: $0, track: $1.track) }, events)
  }

  /// Takes the objects of a frame of the scene's size.
  ///
  /// - Parameters:
  ///   - detections: What was found.
  ///   - time: The time of the frame, in seconds.
  /// - Returns: The objects with their tracks, and what they did.
  /// - Throws: `invalidTime` for a time that is not finite, or before that of the last frame.
  public mutating func update(_ detections: [Detection], at time: Double) throws(ApusError) -> (
    objects: [Object], events: [Event]
  ) {
    var objects = detections.map { Object(detection: $0) }
    guard var tracker else { return (objects, []) }
    var indices: [Int] = []
    var usable: [TrackingDetection] = []
    for (index, detection) in detections.enumerated() {
      if usable.count < tracker.options.maximumDetections, let detection = TrackingDetection(detection) {
        indices.append(index)
        usable.append(detection)
      }
      if let label = detection.label { labels[detection.index] = label }
    }
    var events: [Event] = []
    do {
      let tracks = try tracker.update(usable, positions: indices, at: usesTime ? time : nil)
      self.tracker = tracker
      for track in tracks { if let index = track.detectionIndex { objects[index].track = track.id } }
      let placed = tracks.map(placed)
      for index in lines.indices {
        for crossing in lines[index].counter.update(placed, areAll: true) {
          events.append(
            Event(
              event: "crossed", line: lines[index].name, direction: crossing.direction.rawValue,
              track: crossing.trackID, label: labels[crossing.classIndex], index: crossing.classIndex,
              time: time))
        }
      }
      for index in zones.indices {
        for event in try zones[index].counter.update(placed, at: time, areAll: true) {
          events.append(self.event(event, index, time))
        }
      }
    } catch {
      throw ApusError(error)
    }
    return (objects, events)
  }

  /// A track whose box is the point at which lines and zones have it: its anchor, or the nearest point of the picture.
  private func placed(_ track: Track) -> Track {
    let anchor = BoxAnchor.bottomCenter.point(of: track.box)
    let (x, y) = (min(max(anchor.x, 0), end.x), min(max(anchor.y, 0), end.y))
    return Track(
      id: track.id, box: TrackingBox(minX: x, minY: y, maxX: x, maxY: y), classIndex: track.classIndex,
      detectionIndex: track.detectionIndex)
  }

  /// Ends the stays of those who are in zones, and returns them.
  public mutating func finish(at time: Double) -> [Event] {
    var events: [Event] = []
    for index in zones.indices { events += zones[index].counter.finish().map { event($0, index, time) } }
    return events
  }

  private func event(_ event: ZoneEvent, _ index: Int, _ time: Double) -> Event {
    Event(
      event: event.kind.rawValue, zone: zones[index].name, track: event.trackID,
      label: labels[event.classIndex], index: event.classIndex, dwell: event.dwell, time: time)
  }

  /// The counts of all lines.
  public var lineCounts: [String: LineCounts] {
    Dictionary(
      uniqueKeysWithValues: lines.map {
        ($0.name, LineCounts(in: $0.counter.inCount, out: $0.counter.outCount))
      })
  }

  /// The counts of all zones.
  public var zoneCounts: [String: ZoneCounts] {
    Dictionary(
      uniqueKeysWithValues: zones.map { zone in
        let counter = zone.counter
        return (
          zone.name,
          ZoneCounts(
            occupancy: counter.occupancy, entries: counter.entries, exits: counter.exits,
            meanDwell: counter.exits > 0 ? counter.totalDwell / Double(counter.exits) : nil,
            longestDwell: counter.longestDwell)
        )
      })
  }
}

extension ApusError.Code {
  /// A time is not finite, or earlier than the one before: of ``ObjectScene``, with the name of `TrackingError`'s code.
  public static let invalidTime = ApusError.Code(rawValue: TrackingError.Code.invalidTime.rawValue)
}

extension ApusError {
  /// A tracker's error with its code.
  fileprivate init(_ error: TrackingError) { self.init(Code(rawValue: error.code.rawValue), error.message) }
}
