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
    /// When the picture arrived.
    let time: Date
    let picture: ImageBuffer
    let objects: [ObjectScene.Object]
  }

  /// The state and the counts of a camera.
  struct Report: Sendable {
    /// `starting`, `running`, `ended`, or `failed` while no pictures come or none are looked at.
    var state = "starting"
    /// Why it failed.
    var reason: String?
    var width = 0
    var height = 0
    /// The frames that arrived, were looked at, were dropped for newer ones.
    var frames = 0
    var answered = 0
    /// The frames that were looked at without an answer, such as those for which the model gives no finite scores.
    var failed = 0
    var dropped = 0
    /// The frames that came damaged or cut short, as far as that is noticed.
    var damaged = 0
    /// The message about the first of them.
    var damageReason: String?
    /// The answers that came 150 ms after their frames or later.
    var late = 0
    /// How often the source was opened again.
    var restarts = 0
    /// Frames that were looked at per second, of late; 0 unless the camera is running.
    var rate = 0.0
    /// When the newest picture arrived; nil before the first one.
    var lastPicture: Date?
    var lines: [String: ObjectScene.LineCounts] = [:]
    var zones: [String: ObjectScene.ZoneCounts] = [:]
  }

  /// A text for listeners.
  struct Message: Sendable {
    /// The number of the line, from 0; nil for a text that is none.
    let number: Int?
    let text: String
  }

  let settings: CameraSettings
  let model: CameraModel
  private let logger: Logger

  struct State {
    var report = Report()
    var shot: Shot?
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var listeners: [Int: AsyncStream<Message>.Continuation] = [:]
    /// How many lines listeners were sent, or would have been.
    var told = 0
    var nextListener = 0
    var viewers = 0
    var encoding: (number: Int, task: Task<ByteBuffer?, Never>)?
    /// The source that is open, whose counts are not yet among those of the report.
    var source: VideoSource?
    /// Whether the log says that frames are damaged.
    var hasSaidDamage = false
    /// Since when it is said that no pictures come or none are looked at; nil while they are.
    var lost: ContinuousClock.Instant?
  }
  let state = Mutex(State())

  /// The maximum number of viewers of a camera: streams and listeners.
  static let maximumViewers = 16
  /// The events that a listener may be behind before it misses some.
  static let listenerBacklog = 256
  private static let lateness = Duration.milliseconds(150)
  /// How long to wait before a source that failed is tried again, at most.
  private static let longestPause = Duration.seconds(30)
  /// How long viewers wait for a picture before something else is written to them: only so one who is gone is noticed.
  private static let longestSilence = Duration.seconds(5)
  /// How long there may be no answer, only errors, before the camera is said to fail.
  private static let longestFailure = Duration.seconds(3)
  /// How long a live source may give no frame before it is said to fail, at least.
  private static let shortestLoss = Duration.seconds(3)

  init(_ settings: CameraSettings, model: CameraModel, logger: Logger) throws {
    self.settings = settings
    self.model = model
    self.logger = logger
    do {
      try VideoSource.check(settings.source, options: Self.options(settings))
      _ = try model.detector()
      _ = try ObjectScene(
        lines: settings.lines, zones: settings.zones, tracking: tracking, width: 16, height: 16)
    } catch { throw StartError(message: "the camera '\(settings.name)': \(Self.reason(error))") }
  }

  private static func reason(_ error: any Error) -> String { (error as? ApusError)?.message ?? "\(error)" }

  private var tracking: ObjectTracker.Options {
    // Every object that the page shows counts.
    var options = ObjectTracker.Options.byteTrack.withoutScoreThresholds
    options.frameRate = min(settings.frameRate ?? 30, 30)
    return options
  }

  /// The present report.
  var report: Report {
    state.withLock { state in
      var report = state.report
      if let source = state.source { report.add(source.statistics) }
      return report
    }
  }

  // MARK: Running

  func run() async throws {
    await withGracefulShutdownHandler {
      // Another service that fails cancels this one.
      await withTaskCancellationHandler {
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await self.breakSilence() }
          group.addTask { await self.noticeLoss() }
          await look(thread)
          group.cancelAll()
        }
        finish()
        try? await thread.shutdownGracefully()
      } onCancel: {
        self.finish()
      }
    } onGracefulShutdown: {
      self.finish()
    }
  }

  /// Ends the source, and all who wait.
  private func finish() {
    let (waiting, listeners, source) = state.withLock { state in
      state.isOver = true
      if state.report.state != "failed" { (state.report.state, state.report.rate) = ("ended", 0) }
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
        send([Message(number: nil, text: ": waiting\n\n")])
        wake()
      }
      answered = now
    }
  }

  /// Says that a live source fails while it gives no frame, long before it counts as stalled and is opened again. A camera may take a picture
  /// every ten seconds: three times the last interval between frames is waited for, if that is longer.
  private func noticeLoss() async {
    var (arrived, arrival, interval) = (0, ContinuousClock.now, Duration.zero)
    while !isOver, (try? await Task.sleep(for: .milliseconds(500))) != nil {
      let now = ContinuousClock.now
      let report = report
      noteDamage(report)
      if report.frames != arrived {
        (interval, arrival) = (arrived == 0 ? .zero : now - arrival, now)
        arrived = report.frames
      } else if report.state == "running", state.withLock({ $0.source?.isLive == true }),
        now - arrival > max(Self.shortestLoss, interval * 3)
      {
        fail("no frame for \((now - arrival).components.seconds) seconds")
      }
    }
  }

  /// Reads the source until the server ends. A live source that ends or fails is tried again; a file is read once, unless it fails before
  /// its first frame.
  private func look(_ thread: NIOThreadPool) async {
    var pause = Duration.seconds(1)
    var course = CameraCourse(settings, tracking: tracking)
    while !isOver {
      let answered = report.answered
      do {
        let source = try VideoSource(settings.source, options: Self.options(settings))
        do {
          try await watch(source, thread, &course)
          if isOver { break }
          if !source.isLive { publish(endOf: &course) }
          noteEnd(of: source)
          if !source.isLive { break }
        } catch {
          if isOver || Task.isCancelled { break }
          fail(Self.reason(error))
          // Frames of a file that were looked at would count again.
          if !source.isLive, report.answered > 0 {
            publish(endOf: &course)
            break
          }
        }
      } catch { fail(Self.reason(error)) }
      if report.answered > answered { pause = .seconds(1) }
      let end = ContinuousClock.now + pause
      while !isOver, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(50)) }
      pause = min(pause * 2, Self.longestPause)
      if !isOver { state.withLock { $0.report.restarts += 1 } }
    }
  }

  /// Says why nothing is looked at; in the log, once for a reason.
  private func fail(_ reason: String) {
    let isNew = state.withLock { state in
      defer {
        state.lost = state.lost ?? .now
        (state.report.state, state.report.reason, state.report.rate) = ("failed", reason, 0)
      }
      return state.report.state != "failed" || state.report.reason != reason
    }
    guard isNew else { return }
    logger.error("camera", metadata: ["camera": "\(settings.name)", "reason": "\(reason)"])
  }

  /// Says that frames are damaged, once for a camera.
  private func noteDamage(_ report: Report) {
    guard report.damaged > 0 else { return }
    let isSaid = state.withLock { state in
      defer { state.hasSaidDamage = true }
      return state.hasSaidDamage
    }
    guard !isSaid else { return }
    let reason = report.damageReason.map { PrintableText.escaped($0) } ?? "frames of the device are left out"
    logger.warning("damaged frames", metadata: ["camera": "\(settings.name)", "reason": "\(reason)"])
  }

  /// Says that a source has come to its end, which is a failure of what has none.
  private func noteEnd(of source: VideoSource) {
    if source.isLive, !settings.source.hasPrefix("test:") { return fail("'\(source.name)' has ended") }
    state.withLock { state in
      state.lost = state.lost ?? .now
      (state.report.state, state.report.reason, state.report.rate) = ("ended", nil, 0)
    }
    logger.notice("camera ended", metadata: ["camera": "\(settings.name)"])
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

  /// How a source is read.
  private static func options(_ settings: CameraSettings) -> VideoSource.Options {
    let source = settings.source
    var options = VideoSource.Options()
    if let limit = settings.stallLimit { options.stallLimit = .seconds(limit) }
    // A network's source gives a camera's newest picture; a pattern stands for one.
    if source.contains("://") { options.isLive = true }
    if source.hasPrefix("test:") { (options.isLive, options.isRealTime) = (true, true) }
    // The camera opens it again, and says so at once.
    options.restartLimit = 0
    return options
  }

  /// Reads the source to its end.
  private func watch(
    _ source: VideoSource, _ thread: NIOThreadPool, _ course: inout CameraCourse
  ) async throws {
    let (isOver, arrived) = state.withLock { state in
      state.source = source
      return (state.isOver, state.report.frames)
    }
    if isOver { source.stop() }
    defer {
      state.withLock { state in
        state.report.add(source.statistics)
        state.source = nil
      }
      noteDamage(report)
    }
    course.open(arrived: arrived)
    var rate = RateMeter()
    // Since when there are only errors, and the last one.
    var failing: (since: ContinuousClock.Instant, error: ApusError)?
    var hasAnswer = false
    for try await frame in source {
      let time = course.time(of: frame)
      guard course.wants(time, isLive: source.isLive) else { continue }
      let asked = ContinuousClock.now
      guard let detector = try await detector(thread) else { break }
      // While the model was waited for or prepared, a live source went on: its newest frame is looked at.
      if source.isLive, ContinuousClock.now - asked > Self.lateness { continue }
      let (picture, outcome) = try await thread.runIfActive { [model] in
        let picture = frame.picture()
        return (picture, Result { () throws(ApusError) in try model.detect(picture, by: detector) })
      }
      let result: DetectionResult
      do throws(ApusError) { result = try outcome.get() } catch {
        // It costs this frame; the next one may have an answer.
        state.withLock { $0.report.failed += 1 }
        failing = (failing?.since ?? .now, error)
        if let failing, ContinuousClock.now - failing.since > Self.longestFailure { fail(error.message) }
        continue
      }
      (failing, hasAnswer) = (nil, true)
      let step = try course.update(
        result.detections, in: picture, of: frame, at: time,
        frameRate: source.frameRate(atMost: settings.frameRate))
      publish(
        step, picture, result.timings, course, rate: rate.next(),
        age: ContinuousClock.now - frame.arrival, isLive: source.isLive)
    }
    if let failing, !hasAnswer { throw failing.error }
  }

  private func publish(
    _ step: CameraCourse.Step, _ picture: ImageBuffer, _ timings: StageTimings, _ course: CameraCourse,
    rate: Double, age: Duration, isLive: Bool
  ) {
    let isLate = isLive && age > Self.lateness
    let arrival = Date(timeIntervalSinceNow: -(age / .seconds(1)))
    let (waiting, isHeard, lost) = state.withLock { state in
      state.report.state = "running"
      state.report.reason = nil
      state.report.lastPicture = arrival
      (state.report.width, state.report.height) = (picture.width, picture.height)
      state.report.answered += 1
      state.report.late += isLate ? 1 : 0
      state.report.rate = rate
      state.report.lines = course.lineCounts
      state.report.zones = course.zoneCounts
      state.shot = Shot(
        number: (state.shot?.number ?? 0) + 1, time: arrival, picture: picture, objects: step.objects)
      defer { (state.waiting, state.lost) = ([], nil) }
      return (state.waiting, !state.listeners.isEmpty, state.lost)
    }
    for continuation in waiting { continuation.resume() }
    if let lost {
      logger.notice(
        "camera is running",
        metadata: ["camera": "\(settings.name)", "after": "\((.now - lost).components.seconds) s"])
    }
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
  private func tell(_ lines: [String]) {
    let first = state.withLock { state in
      defer { state.told += lines.count }
      return state.told
    }
    send(lines.enumerated().map { Message(number: first + $0, text: "data: \($1)\n\n") })
  }

  /// Sends texts to all listeners.
  private func send(_ messages: [Message]) {
    let listeners = state.withLock { $0.listeners.values.map { $0 } }
    for listener in listeners { for message in messages { listener.yield(message) } }
  }
}

extension LiveCamera.Report {
  /// Adds the frames of a source.
  fileprivate mutating func add(_ statistics: VideoStatistics) {
    frames += statistics.arrived
    dropped += statistics.dropped
    damaged += statistics.damaged
    damageReason = damageReason ?? statistics.damageReason
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
