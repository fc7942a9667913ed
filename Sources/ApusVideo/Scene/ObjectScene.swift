// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusTracking
import ApusVideo
import ApusVision

/// What `apus watch` knows of the objects before a camera: their tracks, and who crossed, entered and left.
struct Scene {
  /// An object, with the number of its track.
  struct Object: Encodable {
    let detection: Detection
    var track: Int?

    private enum CodingKeys: CodingKey { case track }

    func encode(to encoder: any Encoder) throws {
      try detection.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(track, forKey: .track)
    }
  }

  /// What happened with a frame.
  struct Event: Encodable {
    let event: String
    var line: String?
    var zone: String?
    var direction: String?
    let track: Int
    var label: String?
    var dwell: Double?
    let time: Double
  }

  /// The crossings of a line.
  struct LineCounts: Encodable {
    let `in`: Int
    let out: Int
  }

  /// The counts of a zone.
  struct ZoneCounts: Encodable {
    let occupancy: Int
    let entries: Int
    let exits: Int
    let meanDwell: Double?
    let longestDwell: Double
  }

  private var tracker: ObjectTracker?
  private var labels: [Int: String] = [:]
  private(set) var lines: [(name: String, counter: LineCounter)] = []
  private(set) var zones: [(name: String, counter: ZoneCounter)] = []
  private let usesTime: Bool

  /// Makes a scene for pictures of one size.
  ///
  /// - Parameter usesTime: Whether frames may be unequally far apart; otherwise each is one nominal frame after the last.
  init(
    _ options: SceneOptions, tracking: ObjectTracker.Options?, width: Int, height: Int, usesTime: Bool
  ) throws {
    self.usesTime = usesTime
    guard let tracking else { return }
    func scaled(_ place: SceneOptions.Place) -> [TrackingPoint] {
      place.points.map { TrackingPoint(x: $0.x * Double(width), y: $0.y * Double(height)) }
    }
    do {
      tracker = try ObjectTracker(tracking)
      // As long as the tracker remembers a track, lines and zones do.
      let memory = max(2, Int(tracking.maximumLostTime * tracking.frameRate) + 1)
      for place in try options.lines {
        let points = scaled(place)
        lines.append(
          (
            place.name,
            try LineCounter(
              from: points[0], to: points[1], minimumCrossingFrames: options.crossingFrames,
              maximumAbsentFrames: max(memory, options.crossingFrames + 1))
          ))
      }
      for place in try options.zones {
        zones.append(
          (
            place.name,
            try ZoneCounter(
              polygon: scaled(place), minimumCrossingFrames: options.crossingFrames,
              maximumAbsentFrames: memory)
          ))
      }
    } catch let error as TrackingError {
      throw ApusError(.invalidArgument, error.message)
    }
  }

  /// Takes the objects of a frame.
  mutating func update(_ detections: [Detection], at time: Double) throws(ApusError) -> (
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
      let tracks = try tracker.update(usable, at: usesTime ? time : nil)
      self.tracker = tracker
      for track in tracks { if let index = track.detectionIndex { objects[indices[index]].track = track.id } }
      for index in lines.indices {
        for crossing in lines[index].counter.update(tracks) {
          events.append(
            Event(
              event: "crossed", line: lines[index].name, direction: crossing.direction.rawValue,
              track: crossing.trackID,
              label: labels[crossing.classIndex], time: time))
        }
      }
      for index in zones.indices {
        for event in try zones[index].counter.update(tracks, at: time) {
          events.append(self.event(event, index, time))
        }
      }
    } catch {
      throw ApusError(.invalidData, error.message)
    }
    return (objects, events)
  }

  /// Ends the stays of those who are in zones.
  mutating func finish(at time: Double) -> [Event] {
    var events: [Event] = []
    for index in zones.indices { events += zones[index].counter.finish().map { event($0, index, time) } }
    return events
  }

  private func event(_ event: ZoneEvent, _ index: Int, _ time: Double) -> Event {
    Event(
      event: event.kind.rawValue, zone: zones[index].name, track: event.trackID,
      label: labels[event.classIndex],
      dwell: event.dwell, time: time)
  }

  /// The counts of all lines.
  var lineCounts: [String: LineCounts] {
    Dictionary(
      uniqueKeysWithValues: lines.map {
        ($0.name, LineCounts(in: $0.counter.inCount, out: $0.counter.outCount))
      })
  }

  /// The counts of all zones.
  var zoneCounts: [String: ZoneCounts] {
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
