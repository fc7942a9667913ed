// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusServing
import ApusTracking
import ApusVideo
import ApusVision
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A camera that is looked at all the time: its newest picture with what was found, its counts, and its events.
///
/// A thread of its own runs the model, so that neither requests nor viewers slow it. A viewer gets the newest picture and misses those before.
final class LiveCamera: Service {
  /// A picture that was looked at.
  struct Shot: Sendable {
    /// The number of the shot, from 1.
    let number: Int
    let picture: ImageBuffer
    let objects: [ObjectScene.Object]
  }

  /// What is known about a camera.
  struct Report: Sendable {
    /// `starting`, `running`, `ended` or `failed`.
    var state = "starting"
    /// Why it failed.
    var reason: String?
    var width = 0
    var height = 0
    /// The frames that arrived, were looked at, were dropped for newer ones.
    var frames = 0
    var answered = 0
    var dropped = 0
    /// The answers that came 150 ms after their frames or later.
    var late = 0
    var restarts = 0
    /// Frames that were looked at per second, of late.
    var rate = 0.0
    var lines: [String: ObjectScene.LineCounts] = [:]
    var zones: [String: ObjectScene.ZoneCounts] = [:]
  }

  let settings: CameraSettings
  let model: CameraModel
  private let logger: Logger

  private struct State {
    var report = Report()
    var shot: Shot?
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var listeners: [Int: AsyncStream<String>.Continuation] = [:]
    var nextListener = 0
    var viewers = 0
    var encoding: (number: Int, task: Task<ByteBuffer?, Never>)?
    var source: VideoSource?
  }
  private let state = Mutex(State())

  /// The maximum number of viewers of a camera: streams and listeners.
  static let maximumViewers = 16
  /// The events that a listener may be behind before it misses some.
  private static let listenerBacklog = 256
  private static let lateness = Duration.milliseconds(150)
  /// How long to wait before a source that failed is tried again, at most.
  private static let longestPause = Duration.seconds(30)
  /// How long viewers wait for a picture before something else is written to them: only so one who is gone is noticed.
  private static let longestSilence = Duration.seconds(5)

  init(_ settings: CameraSettings, model: CameraModel, logger: Logger) throws {
    self.settings = settings
    self.model = model
    self.logger = logger
    do {
      _ = try model.detector()
      _ = try ObjectScene(
        lines: settings.lines, zones: settings.zones, tracking: tracking, width: 16, height: 16)
    } catch { throw StartError(message: "the camera '\(settings.name)': \(Self.reason(error))") }
  }

  private static func reason(_ error: any Error) -> String { (error as? ApusError)?.message ?? "\(error)" }

  private var tracking: ObjectTracker.Options {
    // Every object that the page shows counts.
    var options = ObjectTracker.Options.byteTrack.withoutScoreThresholds
    options.frameRate = settings.frameRate ?? 30
    return options
  }

  // MARK: Running

  func run() async throws {
    await withGracefulShutdownHandler {
      let thread = NIOThreadPool(numberOfThreads: 1)
      thread.start()
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.breakSilence() }
        await look(thread)
        group.cancelAll()
      }
      finish()
      try? await thread.shutdownGracefully()
    } onGracefulShutdown: {
      self.finish()
    }
  }

  /// Ends the source, and all who wait.
  private func finish() {
    let (waiting, listeners, source) = state.withLock { state in
      state.isOver = true
      defer {
        state.waiting = []
        state.listeners = [:]
      }
      return (state.waiting, state.listeners, state.source)
    }
    source?.stop()
    for continuation in waiting { continuation.resume() }
    for listener in listeners.values { listener.finish() }
  }

  /// Whether there will be no picture any more.
  var isOver: Bool { state.withLock(\.isOver) }

  /// The error of those who want to look on when there is nothing to come.
  var hasEnded: ServingError { ServingError(.notFound, "the camera '\(settings.name)' has ended") }

  /// Lets viewers go on while no picture comes: of those who are gone, a source that is silent would keep the places.
  private func breakSilence() async {
    var answered = 0
    while !isOver, (try? await Task.sleep(for: Self.longestSilence)) != nil {
      let now = report.answered
      if now == answered {
        send([": waiting\n\n"])
        wake()
      }
      answered = now
    }
  }

  /// Reads the source until the server ends. A live source that ends or fails is tried again; a file is read once.
  private func look(_ thread: NIOThreadPool) async {
    var pause = Duration.seconds(1)
    var course = CameraCourse(settings, tracking: tracking)
    while !isOver {
      let answered = state.withLock { $0.report.answered }
      do {
        let isLive = try await watch(thread, &course)
        if !isLive { publish(endOf: &course) }
        state.withLock { $0.report.state = "ended" }
        logger.notice("camera ended", metadata: ["camera": "\(settings.name)"])
        if !isLive { break }
      } catch {
        fail(Self.reason(error))
      }
      if state.withLock({ $0.report.answered }) > answered { pause = .seconds(1) }
      let end = ContinuousClock.now + pause
      while !isOver, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(50)) }
      pause = min(pause * 2, Self.longestPause)
    }
  }

  /// Says why nothing is looked at.
  private func fail(_ reason: String) {
    state.withLock { state in
      state.report.state = "failed"
      state.report.reason = reason
    }
    logger.error("camera", metadata: ["camera": "\(settings.name)", "reason": "\(reason)"])
  }

  /// The detector, once there is one: a model that was unloaded may be loaded again.
  private func detector(_ thread: NIOThreadPool) async throws -> ObjectDetector? {
    var said: String?
    while !isOver {
      do { return try await thread.runIfActive { [model] in try model.detector() } } catch let error
        as ServingError
      {
        if error.message != said { fail(error.message) }
        said = error.message
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    return nil
  }

  /// Reads the source to its end; returns whether it is live.
  private func watch(_ thread: NIOThreadPool, _ course: inout CameraCourse) async throws -> Bool {
    var options = VideoSource.Options()
    // What comes over a network is a camera's newest picture; a pattern stands for one.
    if settings.source.contains("://") { options.isLive = true }
    if settings.source.hasPrefix("test:") { (options.isLive, options.isRealTime) = (true, true) }
    let source = try VideoSource(settings.source, options: options)
    let (isOver, before) = state.withLock { state in
      state.source = source
      return (state.isOver, state.report)
    }
    if isOver { source.stop() }
    defer { count(source.statistics, after: before) }
    course.open(arrived: before.frames)
    var rate = RateMeter()
    for try await frame in source {
      let time = course.time(of: frame)
      if course.skips(time) { continue }
      guard let detector = try await detector(thread) else { break }
      let (picture, result) = try await thread.runIfActive {
        let picture = frame.picture()
        return (picture, try detector.detect(picture))
      }
      let step = try course.update(
        result.detections, in: picture, of: frame, at: time,
        frameRate: source.frameRate(atMost: settings.frameRate))
      count(source.statistics, after: before)
      publish(
        step, picture, result.timings, course, rate: rate.next(),
        isLate: source.isLive && ContinuousClock.now - frame.arrival > Self.lateness)
    }
    return source.isLive
  }

  /// Adds the frames of a source to those from before it was opened.
  private func count(_ statistics: VideoStatistics, after before: Report) {
    state.withLock { state in
      state.report.frames = before.frames + statistics.arrived
      state.report.dropped = before.dropped + statistics.dropped
      state.report.restarts = before.restarts + statistics.restarts
    }
  }

  private func publish(
    _ step: CameraCourse.Step, _ picture: ImageBuffer, _ timings: StageTimings, _ course: CameraCourse,
    rate: Double, isLate: Bool
  ) {
    let (waiting, isHeard) = state.withLock { state in
      state.report.state = "running"
      state.report.reason = nil
      (state.report.width, state.report.height) = (picture.width, picture.height)
      state.report.answered += 1
      state.report.late += isLate ? 1 : 0
      state.report.rate = rate
      state.report.lines = course.lineCounts
      state.report.zones = course.zoneCounts
      state.shot = Shot(number: (state.shot?.number ?? 0) + 1, picture: picture, objects: step.objects)
      defer { state.waiting = [] }
      return (state.waiting, !state.listeners.isEmpty)
    }
    for continuation in waiting { continuation.resume() }
    guard isHeard else { return }
    let line = CameraText.FrameLine(
      frame: step.number, time: step.time, detections: step.objects, milliseconds: timings)
    tell([CameraText.json(line)] + step.events.map { CameraText.json($0) })
  }

  /// Ends the stays of those who are in zones when a film ends.
  private func publish(endOf course: inout CameraCourse) {
    let events = course.finish()
    let counts = course.zoneCounts
    state.withLock { $0.report.zones = counts }
    tell(events.map { CameraText.json($0) })
  }

  /// Sends lines of JSON to all listeners.
  private func tell(_ lines: [String]) { send(lines.map { "data: \($0)\n\n" }) }

  /// Sends texts to all listeners.
  private func send(_ texts: [String]) {
    let listeners = state.withLock { $0.listeners.values.map { $0 } }
    for listener in listeners { for text in texts { listener.yield(text) } }
  }

  // MARK: Looking on

  /// What is known now.
  var report: Report { state.withLock(\.report) }

  /// The newest picture, if there is one.
  var newest: Shot? { state.withLock(\.shot) }

  /// What a viewer gets after some wait.
  enum Sight {
    case shot(Shot)
    /// No picture for some time: the source is silent, or has failed and is tried again.
    case nothing
    /// The camera has ended.
    case over
  }

  /// Waits for a picture that is newer than one with a number, for some time.
  func sight(after number: Int) async -> Sight {
    if let sight = sightNow(after: number) { return sight }
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.isOver || (state.shot?.number ?? 0) > number { return true }
        state.waiting.append(continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
    return sightNow(after: number) ?? .nothing
  }

  private func sightNow(after number: Int) -> Sight? {
    state.withLock { state in
      if let shot = state.shot, shot.number > number { return .shot(shot) }
      return state.isOver ? .over : nil
    }
  }

  /// Lets viewers go on who wait for a picture.
  private func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// A picture with its objects as a JPEG file, encoded once for all who ask; nil if that fails.
  func jpeg(of shot: Shot) async -> ByteBuffer? {
    let task = state.withLock { state in
      if let encoding = state.encoding, encoding.number == shot.number { return encoding.task }
      let task = Task { () -> ByteBuffer? in
        try? await NIOThreadPool.singleton.runIfActive { () throws(ApusError) -> ByteBuffer in
          let detections = shot.objects.map { object in
            var detection = object.detection
            if let track = object.track {
              detection.category.displayName = "\(detection.category.name) \(track)"
            }
            return detection
          }
          return ByteBuffer(bytes: try shot.picture.drawing(detections).encoded(as: .jpeg, quality: 80))
        }
      }
      state.encoding = (shot.number, task)
      return task
    }
    return await task.value
  }

  /// Lets one more look on; ``leave()`` must follow.
  func enter() throws(ServingError) {
    let refusal = state.withLock { state -> ServingError? in
      if state.isOver { return hasEnded }
      guard state.viewers < Self.maximumViewers else {
        return ServingError(
          .unavailable, "the camera has \(Self.maximumViewers) viewers, the most that it may")
      }
      state.viewers += 1
      return nil
    }
    if let refusal { throw refusal }
  }

  func leave() { state.withLock { $0.viewers -= 1 } }

  /// Frames and events from now on, as server-sent events. A listener that is slow misses the oldest.
  func events() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(Self.listenerBacklog))
    let number: Int? = state.withLock { state in
      guard !state.isOver else { return nil }
      defer { state.nextListener += 1 }
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }
}

/// How many times a second something happens, over the last ten times.
private struct RateMeter {
  private var times: [ContinuousClock.Instant] = []

  /// Takes a time now, and returns the rate.
  mutating func next() -> Double {
    times.append(.now)
    if times.count > 10 { times.removeFirst() }
    let span = (times[times.count - 1] - times[0]) / .seconds(1)
    return span > 0 ? Double(times.count - 1) / span : 0
  }
}
