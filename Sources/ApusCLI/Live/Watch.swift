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

/// The state of `apus watch` from frame to frame, and its output.
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
  private let video: VideoSource
  private let start = ContinuousClock.now
  private var scene: ObjectScene?
  private var writer: VideoWriter?
  private var pace: FramePace
  private var lastTime: Double?
  private var late = 0
  private var found = 0
  /// Whether a tracker has given an object a number.
  private var hasFollowed = false
  /// The last frame with a result, for pictures of the events at the end; nil if they are not wanted.
  private var lastLook:
    (frame: VideoFrame, picture: ImageBuffer, finding: WatchFinding, objects: [ObjectScene.Object])?
  /// The frames with results.
  private(set) var answered = 0

  init(command: WatchCommand, video: VideoSource) {
    self.command = command
    self.video = video
    pace = FramePace(atMost: command.fps)
  }

  /// Whether a frame is looked at: by its number and time alone, so that speed changes nothing.
  mutating func wants(_ frame: VideoFrame) -> Bool {
    guard frame.number.isMultiple(of: command.every), pace.takes(frame.time, isLive: video.isLive) else {
      return false
    }
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
    if self.scene == nil { try warnOfPlacesBesideRegion(of: picture) }
    var scene =
      try self.scene
      ?? ObjectScene(
        lines: options.lines, zones: options.zones, tracking: command.trackerOptions(frameRate: frameRate),
        width: picture.width, height: picture.height, crossingFrames: options.crossingFrames)
    let (objects, events) = try scene.update(
      finding.detections, width: picture.width, height: picture.height, at: frame.time)
    self.scene = scene
    found += objects.count
    if objects.contains(where: { $0.track != nil }) { hasFollowed = true }
    let age = video.isLive ? ContinuousClock.now - frame.arrival : nil
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

    if command.snapshots != nil, !scene.zones.isEmpty { lastLook = (frame, picture, finding, objects) }
    guard command.annotate != nil || command.snapshots != nil && !events.isEmpty else { return }
    let drawn = try draw(finding.draw?(picture) ?? picture, objects, scene)
    if let path = command.annotate {
      let writer =
        try self.writer
        ?? VideoWriter(
          path, width: drawn.width, height: drawn.height, frameRate: Self.playableRate(frameRate),
          pixelAspect: video.pixelAspect)
      self.writer = writer
      // A reader of the results that wants no more, such as head, ends the process; the video is complete even then.
      Output.beforeEnding { try? writer.finishWaiting() }
      try writer.appendWaiting(Self.scaled(drawn, to: writer), at: frame.time)
    }
    if let folder = command.snapshots, !events.isEmpty { try save(drawn, events, frame, in: folder) }
  }

  /// The rate of a video with a picture for each frame: a whole multiple of slow rates, which players do not expect.
  private static func playableRate(_ rate: Double) -> Double {
    rate < 1 ? rate * (1 / rate).rounded(.up) : rate
  }

  /// A picture of the video's size: a stream that starts again may have another one than before.
  private static func scaled(_ picture: ImageBuffer, to writer: VideoWriter) throws(ApusError) -> ImageBuffer
  {
    if (picture.width, picture.height) == (writer.width, writer.height) { return picture }
    let prepared = try ImageProcessor(width: writer.width, height: writer.height).prepare(picture)
    return try ImageBuffer(
      bytes: prepared.bytes, width: prepared.width, height: prepared.height, format: .rgb)
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
    // The places of a scene are in pixels of its first picture.
    let (scaleX, scaleY) = (width / Float(scene.width), height / Float(scene.height))
    func add(_ corners: [TrackingPoint], _ text: String) {
      let points = corners.map { PixelPoint(x: Float($0.x) * scaleX, y: Float($0.y) * scaleY) }
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

  /// Ends the stays in zones, completes the video, and prints the summary, also if the video cannot be completed.
  mutating func finish(_ statistics: VideoStatistics) throws {
    if var scene {
      let events = scene.finish(at: lastTime ?? 0)
      self.scene = scene
      try write(events)
      if let folder = command.snapshots, let (frame, picture, finding, objects) = lastLook, !events.isEmpty {
        try save(draw(finding.draw?(picture) ?? picture, objects, scene), events, frame, in: folder)
      }
    }
    let completion = Result { () throws(ApusError) in try writer?.finishWaiting() }
    try summarize(statistics)
    warn(statistics)
    warnOfObjectsWithoutNumbers()
    _ = try completion.get()
  }

  /// Says on standard error which lines and zones lie where no object is looked for.
  private func warnOfPlacesBesideRegion(of picture: ImageBuffer) throws {
    guard let region = try command.input.regionRect else { return }
    let (width, height) = (Float(picture.width), Float(picture.height))
    for place in try command.scene.lines + command.scene.zones {
      let (x, y) = (place.points.map { Float($0.x) * width }, place.points.map { Float($0.y) * height })
      let (left, right) = (x.min() ?? 0, x.max() ?? 0)
      let (top, bottom) = (y.min() ?? 0, y.max() ?? 0)
      if right >= region.minX, left <= region.maxX, bottom >= region.minY, top <= region.maxY { continue }
      Output.writeError(
        "warning: '\(place.name)' lies outside of --region, so that nothing will be seen there; its points are fractions of the whole picture"
      )
    }
  }

  /// Says on standard error why nothing can have crossed a line, although objects were found.
  private func warnOfObjectsWithoutNumbers() {
    guard found > 0, !hasFollowed, let options = command.trackerOptions(frameRate: 30) else { return }
    let start =
      command.tracking.activationScore.map { " begins with a score of \($0) (--activation-score) and" } ?? ""
    Output.writeError(
      "warning: none of the \(found) objects found was followed: a track\(start) gets its number after "
        + "\(options.minimumHits) detections (--minimum-hits)")
  }

  /// Says on standard error what the film and the one that was written lack.
  private func warn(_ statistics: VideoStatistics) {
    if let reason = statistics.damageReason {
      let count = statistics.damaged
      Output.writeError(
        "warning: '\(oneLine(video.name))' is damaged: at least \(count) \(count == 1 ? "frame is" : "frames are") broken or missing; "
          + "\(video.name.hasPrefix("/dev/") ? "the decoder" : "ffmpeg") says first: \(oneLine(reason))")
    }
    // Frames of live sources arrive at irregular times.
    if let writer, let path = command.annotate, !video.isLive, writer.leftOut > 0 {
      Output.writeError(
        "warning: \(writer.leftOut) of \(answered) frames are not in \(oneLine(path)): they are closer together than its "
          + "\(decimal(writer.frameRate, 2)) frames per second")
    }
  }

  private func summarize(_ statistics: VideoStatistics) throws {
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
