// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusShapes
import ApusVision
import Foundation
import Synchronization
import Testing

/// A task that answers when it is told to, and notes who asks.
private final class SlowTask: VisionTask {
  struct Answer: VisionResult {
    var imageWidth: Int
    var imageHeight = 1
    var timings = StageTimings()
  }

  let assumptions: TaskAssumptions
  let imageReduction = ImageReduction.none
  let gate = DispatchSemaphore(value: 0)
  let state = Mutex((running: 0, most: 0, widths: [Int]()))

  init() throws { assumptions = try ObjectDetector.shapes().assumptions }

  func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) throws(ApusError)
    -> Answer
  {
    state.withLock { state in
      state.running += 1
      state.most = max(state.most, state.running)
      state.widths.append(image.width)
    }
    defer { state.withLock { $0.running -= 1 } }
    while gate.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
      if cancellation?.isCancelled == true { throw ApusError(.cancelled, "cancelled") }
    }
    if image.width == 13 { throw ApusError(.invalidData, "thirteen") }
    return Answer(imageWidth: image.width)
  }

  func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError) -> [Answer] { [] }

  /// Waits until that many frames were begun.
  func waitForStart(of count: Int) async throws {
    while state.withLock({ $0.widths.count }) < count { try await Task.sleep(for: .milliseconds(1)) }
  }
}

@Suite(.timeLimit(.minutes(1))) struct LatestFramesTests {
  /// A frame that its width tells from others.
  private func frame(_ width: Int) throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 0, count: width), width: width, height: 1, format: .gray)
  }

  @Test("the newest frame wins, one is in flight, and what is dropped is counted")
  func keepsTheNewest() async throws {
    let task = try SlowTask()
    let latest = LatestFrames(task)
    var results = latest.results.makeAsyncIterator()
    #expect(latest.submit(try frame(1)) == 0)
    try await task.waitForStart(of: 1)
    // While the task runs on the first frame, the others replace each other; `submit` does not block.
    for width in 2...9 { latest.submit(try frame(width)) }
    task.gate.signal()
    let first = try #require(await results.next())
    #expect(first.number == 0 && first.frame.width == 1)
    #expect(try first.answer.get().imageWidth == 1)
    task.gate.signal()
    let second = try #require(await results.next())
    #expect(second.number == 8 && second.frame.width == 9 && second.latency >= .zero)
    #expect(task.state.withLock(\.widths) == [1, 9] && task.state.withLock(\.most) == 1)
    let counts = latest.statistics
    #expect(counts.submitted == 9 && counts.answered == 2 && counts.dropped == 7)
    #expect(counts.expired == 0 && counts.unread == 0)
  }

  @Test("results that nobody takes are replaced by newer ones, and counted")
  func replacesUnreadResults() async throws {
    let task = try SlowTask()
    let latest = LatestFrames(task)
    for width in 1...3 {
      latest.submit(try frame(width))
      try await task.waitForStart(of: width)
      task.gate.signal()
      while latest.statistics.answered < width { try await Task.sleep(for: .milliseconds(1)) }
    }
    latest.finish()
    var widths: [Int] = []
    for await result in latest.results { widths.append(result.frame.width) }
    #expect(widths == [3] && latest.statistics.unread == 2)
  }

  @Test("a frame beyond its deadline is given up, also in the middle of its run")
  func obeysDeadlines() async throws {
    let task = try SlowTask()
    let latest = LatestFrames(task, deadline: .seconds(4))
    latest.submit(try frame(1))
    // The gate stays closed: the deadline ends the run.
    while latest.statistics.expired < 1 { try await Task.sleep(for: .milliseconds(5)) }
    task.gate.signal()
    latest.submit(try frame(2))
    latest.finish()
    var widths: [Int] = []
    for await result in latest.results { widths.append(result.frame.width) }
    #expect(widths == [2])
  }

  @Test("what goes wrong is the answer to its frame, and the next one is answered")
  func deliversErrors() async throws {
    let task = try SlowTask()
    let latest = LatestFrames(task)
    var results = latest.results.makeAsyncIterator()
    for (width, fails) in [(13, true), (14, false)] {
      task.gate.signal()
      latest.submit(try frame(width))
      let result = try #require(await results.next())
      #expect(result.frame.width == width)
      if fails {
        #expect(throws: ApusError(.invalidData, "thirteen")) { try result.answer.get() }
      } else {
        #expect(try result.answer.get().imageWidth == width)
      }
    }
  }

  @Test("after the end no frame is taken, the last one is answered, and the results end")
  func finishes() async throws {
    let task = try SlowTask()
    let latest = LatestFrames(task)
    latest.submit(try frame(1))
    latest.finish()
    latest.submit(try frame(2))
    task.gate.signal()
    var widths: [Int] = []
    for await result in latest.results { widths.append(result.frame.width) }
    #expect(widths == [1] && latest.statistics.dropped == 1)
    let unused = LatestFrames(task)
    unused.finish()
    for await _ in unused.results { Issue.record("there was no frame") }
  }

  @Test("a sequence of frames gets the answers of the detector itself, each with its frame")
  func followsSequences() async throws {
    let detector = try ObjectDetector.shapes()
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    let expected = try await detector.detect(picture).detections
    let (frames, source) = AsyncStream<ImageBuffer>.makeStream()
    for _ in 0..<5 { source.yield(picture) }
    source.finish()
    var count = 0
    for await result in detector.latestAnswers(to: frames) {
      #expect(try result.answer.get().detections == expected && result.frame == picture)
      count += 1
    }
    #expect((1...5).contains(count))
  }

  @Test("a reader that leaves its loop ends the work, and a sequence that fails ends the results")
  func endsWithItsReader() async throws {
    struct Broken: Error {}
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    let detector = try ObjectDetector.shapes()
    let ended = Gate()
    let (frames, source) = AsyncThrowingStream<ImageBuffer, any Error>.makeStream()
    source.onTermination = { _ in ended.open() }
    source.yield(picture)
    for try await _ in detector.latestAnswers(to: frames) { break }
    await ended.wait()
    let failing = AsyncThrowingStream<ImageBuffer, any Error> {
      $0.yield(picture)
      $0.finish(throwing: Broken())
    }
    let count = Mutex(0)
    await #expect(throws: Broken.self) {
      for try await _ in detector.latestAnswers(to: failing) { count.withLock { $0 += 1 } }
    }
    #expect(count.withLock { $0 } <= 1)
  }

  @Test("a reader that is cancelled gets no error, and no more frames are taken")
  func endsWithItsTask() async throws {
    let detector = try ObjectDetector.shapes()
    let ended = Gate()
    let (frames, source) = AsyncThrowingStream<ImageBuffer, any Error>.makeStream()
    source.onTermination = { _ in ended.open() }
    let reader = Task { for try await _ in detector.latestAnswers(to: frames) {} }
    try await Task.sleep(for: .milliseconds(20))
    reader.cancel()
    try await reader.value
    await ended.wait()
  }

  @Test("results have the times of their frames, and the task gets them")
  func handsTimesOn() async throws {
    final class Clock: VisionTask {
      struct Answer: VisionResult {
        var imageWidth = 1
        var imageHeight = 1
        var timings = StageTimings()
        var time: Double?
      }
      let assumptions: TaskAssumptions
      let imageReduction = ImageReduction.none
      init() throws { assumptions = try ObjectDetector.shapes().assumptions }
      func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) throws(ApusError)
        -> Answer
      { Answer() }
      func answer(
        _ frame: ImageBuffer, at time: Double?, in region: PixelRect?, cancellation: Cancellation?
      ) throws(ApusError) -> Answer { Answer(time: time) }
      func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError) -> [Answer] { [] }
    }
    let latest = LatestFrames(try Clock())
    var results = latest.results.makeAsyncIterator()
    for time in [2.5, 7, nil] {
      latest.submit(try frame(1), at: time)
      let result = try #require(await results.next())
      #expect(try result.time == time && result.answer.get().time == time)
    }
  }

  @Test("code for any task calls it in the plain way, without and with async")
  func answersGenerically() async throws {
    func plain<T: VisionTask>(_ task: T, _ picture: ImageBuffer) throws -> [T.Answer] {
      [try task.answer(picture)] + (try task.answers([picture]))
    }
    func suspending<T: VisionTask>(_ task: T, _ picture: ImageBuffer) async throws -> [T.Answer] {
      [try await task.answer(picture)] + (try await task.answers([picture]))
    }
    let detector = try ObjectDetector.shapes()
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    let found = try plain(detector, picture) + (await suspending(detector, picture))
    #expect(found.count == 4 && Set(found.map(\.detections)).count == 1)
  }

  /// Waits for something to happen.
  private final class Gate: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()
    func open() { continuation.finish() }
    func wait() async { for await _ in stream {} }
  }

  @Test("frames from many threads are all counted")
  func takesFramesFromAnywhere() async throws {
    let latest = LatestFrameDetector(try ObjectDetector.shapes())
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<25 { latest.submit(picture) } }
      }
    }
    latest.finish()
    for await _ in latest.results {}
    let found = latest.statistics
    #expect(found.submitted == 100 && found.answered + found.dropped == 100 && found.answered >= 1)
  }
}
