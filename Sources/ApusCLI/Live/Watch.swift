// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusTracking
import ApusVideo
import ApusVision

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What `apus watch` keeps from frame to frame, and prints.
struct Watch {
  /// The line of a frame.
  private struct FrameLine: Encodable {
    let frame: Int
    let time: Double
    /// The milliseconds from the frame's arrival to its result; nil for files, whose lines say nothing about the machine's speed.
    let age: Double?
    /// Nil for a task that finds no objects.
    let detections: [ObjectScene.Object]?
    let finding: WatchFinding

    private enum CodingKeys: CodingKey { case frame, time, age, detections, milliseconds }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(frame, forKey: .frame)
      try container.encode(time, forKey: .time)
      try container.encodeIfPresent(age, forKey: .age)
      try container.encodeIfPresent(detections, forKey: .detections)
      if let result = finding.result {
        try result.encode(to: encoder)
      } else {
        try container.encode(finding.timings, forKey: .milliseconds)
      }
    }
  }

  /// The last line.
  private struct SummaryLine: Encodable {
    struct Summary: Encodable {
      let frames: Int
      let answered: Int
      let dropped: Int
      let damaged: Int
      let late: Int
      let restarts: Int
      let fps: Double
      let lines: [String: ObjectScene.LineCounts]
      let zones: [String: ObjectScene.ZoneCounts]
    }

    let summary: Summary
  }

  /// An answer of a live source is late if it comes this long after its frame.
  private static let lateness: Duration = .milliseconds(150)

  private let command: WatchCommand
  private let isLive: Bool
  private let start = ContinuousClock.now
  private var scene: ObjectScene?
  private var writer: VideoWriter?
  private var lastTime: Double?
  private var late = 0
  /// The frames with results.
  private(set) var answered = 0

  init(command: WatchCommand, isLive: Bool) {
    self.command = command
    self.isLive = isLive
  }

  /// Whether a frame is looked at: by its number and time alone, so that speed changes nothing.
  mutating func wants(_ frame: VideoFrame, every: Int, fps: Double?) -> Bool {
    guard frame.number.isMultiple(of: every) else { return false }
    if let fps, let lastTime, frame.time - lastTime < 1 / fps - 1e-6 { return false }
    lastTime = frame.time
    return true
  }

  /// Takes the result for a frame.
  ///
  /// - Parameter frameRate: How many frames per second are looked at.
  mutating func take(
    _ frame: VideoFrame, _ picture: ImageBuffer, _ finding: WatchFinding, frameRate: Double
  ) throws {
    answered += 1
    let options = command.scene
    var scene =
      try self.scene
      ?? ObjectScene(
        lines: options.lines, zones: options.zones, tracking: command.trackerOptions(frameRate: frameRate),
        width: picture.width, height: picture.height, crossingFrames: options.crossingFrames)
    let (objects, events) = try scene.update(finding.detections, at: frame.time)
    self.scene = scene
    let age = isLive ? ContinuousClock.now - frame.arrival : nil
    if let age, age > Self.lateness { late += 1 }
    if command.json {
      try Output.writeJSON(
        FrameLine(
          frame: frame.number, time: frame.time, age: age.map { $0 / .milliseconds(1) },
          detections: command.task.findsObjects ? objects : nil,
          finding: finding))
    } else if let text = finding.text {
      Output.write("\(decimal(frame.time, 2)) s: \(oneLine(text))")
    } else if !objects.isEmpty {
      let names = objects.map { object in
        "\(object.detection.category.name)\(object.track.map { " \($0)" } ?? "")"
      }
      Output.write("\(decimal(frame.time, 2)) s: \(oneLine(names.joined(separator: ", ")))")
    }
    try write(events)
    if let folder = command.saveFrames {
      try Self.makeFolder(folder)
      try picture.write(toFile: "\(folder)/\(frame.number).png")
    }

    guard command.annotate != nil || command.snapshots != nil && !events.isEmpty else { return }
    let drawn = try draw(finding.draw?(picture) ?? picture, objects, scene)
    if let path = command.annotate {
      let writer =
        try self.writer
        ?? VideoWriter(
          path, width: drawn.width, height: drawn.height, frameRate: Self.playableRate(frameRate))
      self.writer = writer
      // A reader of the results that wants no more, such as head, ends the process; the video is complete even then.
      Output.beforeEnding { try? writer.finishWaiting() }
      try writer.appendWaiting(drawn, at: frame.time)
    }
    if let folder = command.snapshots, !events.isEmpty { try save(drawn, events, frame, in: folder) }
  }

  /// The rate of a video with a picture for each frame: a whole multiple of slow rates, which players do not expect.
  private static func playableRate(_ rate: Double) -> Double {
    rate < 1 ? rate * (1 / rate).rounded(.up) : rate
  }

  private func write(_ events: [ObjectScene.Event]) throws {
    for event in events {
      if command.json {
        try Output.writeJSON(event)
      } else {
        let place = event.line ?? event.zone ?? ""
        let more = [event.direction, event.dwell.map { "\(decimal($0, 1)) s" }].compactMap { $0 }.joined(
          separator: ", ")
        Output.write(
          "\(decimal(event.time, 2)) s: \(oneLine(event.label ?? "object")) \(event.track) \(event.event) \(place)"
            + (more.isEmpty ? "" : " (\(more))"))
      }
    }
  }

  private static func makeFolder(_ folder: String) throws(ApusError) {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw ApusError(.unwritableFile, "cannot make the folder '\(folder)'")
    }
  }

  private func save(
    _ picture: ImageBuffer, _ events: [ObjectScene.Event], _ frame: VideoFrame, in folder: String
  ) throws {
    try Self.makeFolder(folder)
    for event in events {
      let place = event.line ?? event.zone ?? ""
      try picture.write(toFile: "\(folder)/\(frame.number)-\(event.event)-\(place)-\(event.track).jpg")
    }
  }

  private func draw(_ picture: ImageBuffer, _ objects: [ObjectScene.Object], _ scene: ObjectScene)
    throws(ApusError)
    -> ImageBuffer
  {
    let (width, height) = (Float(picture.width), Float(picture.height))
    var paths: [(points: [PixelPoint], color: PixelColor)] = []
    var texts: [(text: String, place: PixelRect, color: PixelColor)] = []
    let color = PixelColor(red: 255, green: 214, blue: 0, alpha: 255)
    func add(_ corners: [TrackingPoint], _ text: String) {
      let points = corners.map { PixelPoint(x: Float($0.x), y: Float($0.y)) }
      paths.append((points, color))
      let (x, y) = (points.map(\.x).min() ?? 0, points.map(\.y).min() ?? 0)
      texts.append(
        (
          text, PixelRect(x: max(x, 0), y: max(y, 0), width: max(width - x, 1), height: max(height - y, 1)),
          color
        ))
    }
    for (name, line) in scene.lines {
      add([line.start, line.end], "\(name) in \(line.inCount) out \(line.outCount)")
    }
    for (name, zone) in scene.zones {
      add(zone.polygon + zone.polygon.prefix(1), "\(name) \(zone.occupancy) now, \(zone.entries) in all")
    }
    let detections = objects.map { object in
      var detection = object.detection
      if let track = object.track { detection.category.displayName = "\(detection.category.name) \(track)" }
      return detection
    }
    return try picture.drawing(detections, paths: paths, texts: texts)
  }

  /// Completes the video.
  func finishVideo() throws(ApusError) { try writer?.finishWaiting() }

  /// Ends the stays in zones, completes the video, and prints the summary.
  mutating func finish(_ statistics: VideoStatistics) throws {
    if var scene {
      try write(scene.finish(at: lastTime ?? 0))
      self.scene = scene
    }
    try finishVideo()
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    let rate = elapsed > 0 ? Double(answered) / elapsed : 0
    if command.json {
      return try Output.writeJSON(
        SummaryLine(
          summary: .init(
            frames: statistics.arrived, answered: answered, dropped: statistics.dropped,
            damaged: statistics.damaged, late: late,
            restarts: statistics.restarts, fps: rate, lines: scene?.lineCounts ?? [:],
            zones: scene?.zoneCounts ?? [:])))
    }
    var text =
      "\(statistics.arrived) frames, \(answered) answered, \(statistics.dropped) dropped, \(decimal(rate, 1)) a second"
    if statistics.damaged > 0 { text += ", \(statistics.damaged) damaged" }
    if statistics.restarts > 0 { text += ", \(statistics.restarts) restarts" }
    for (name, line) in scene?.lines ?? [] { text += "\n\(name): \(line.inCount) in, \(line.outCount) out" }
    for (name, zone) in scene?.zones ?? [] {
      text +=
        "\n\(name): \(zone.entries) entered, \(zone.exits) left, longest \(decimal(zone.longestDwell, 1)) s"
    }
    Output.write(text)
  }
}
