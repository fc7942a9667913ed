// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import Foundation
import Synchronization
import TestSupport
import Testing

/// Frames and controls of a driver that plays a camera; `Scripts/video-test.sh` has the kernel's own.
@Suite struct CameraCaptureTests {
  private static let frame = (0..<16).map { UInt8($0) }

  private func capture(_ driver: FakeCamera, _ change: (inout CameraOptions) -> Void = { _ in }) throws
    -> V4L2Capture
  {
    var options = CameraOptions()
    change(&options)
    return try V4L2Capture(path: "/dev/video9", driver: driver, options: options, pixelLimit: 1 << 20)
  }

  @Test func deliversTheNewestFrameAndCountsTheOthers() throws {
    let other = [UInt8](repeating: 9, count: 16)
    let driver = FakeCamera([
      .frame(other), .frame(other), .frame(Self.frame), .nothing, .frame(other, flags: 0x2040), .nothing,
    ])
    let camera = try capture(driver)
    #expect(camera.width == 4 && camera.height == 2 && camera.format.code == "YUYV")
    let isStarted = driver.state.withLock { $0.isStarted }
    #expect(isStarted)
    let delivery = try camera.next(milliseconds: 10)
    #expect(delivery.bytes == Self.frame && delivery.older == 2 && delivery.damaged == 0)
    #expect(delivery.timestamp == 7_250_000_000)
    // All buffers are the driver's again.
    let queued = driver.state.withLock { Set($0.queued) }
    #expect(queued == [0, 1, 2, 3])
    // The driver itself says that this one is damaged.
    let damaged = try camera.next(milliseconds: 10)
    #expect(damaged.bytes == nil && damaged.damaged == 1)
    #expect(try camera.next(milliseconds: 1).bytes == nil)
    let picture = try camera.picture(Self.frame)
    #expect(picture.layout == .yuyv && picture.bytes == Self.frame && picture.bytesPerRow == 8)
    #expect(picture.color == VideoColor())
  }

  @Test func setsRateAndControls() throws {
    let driver = FakeCamera([])
    _ = try capture(driver) { options in
      options.frameRate = 15
      options.controls = [
        .init("Brightness", "-3"), .init("auto_exposure", "manual mode"),
      ]
    }
    let state = driver.state.withLock(\.self)
    #expect(state.rate?.0 == 1000 && state.rate?.1 == 15_000)
    #expect(state.settings == [0x0098_0900: UInt32(bitPattern: -3), 0x009A_0901: 1])
  }

  @Test func listsControls() throws {
    let driver = FakeCamera([])
    let controls = V4L2Controls(path: "/dev/video9", ask: driver.ask).all()
    #expect(controls.map(\.name) == ["brightness", "auto_exposure", "zoom_absolute"])
    #expect(controls.map(\.kind) == [.integer, .menu, .integer])
    #expect(controls.map(\.minimum) == [-64, 0, 100] && controls.map(\.maximum) == [64, 3, 500])
    #expect(controls.map(\.step) == [1, 1, 10] && controls.map(\.defaultValue) == [0, 3, 100])
    #expect(controls.map(\.value) == [7, 7, 7] && controls.map(\.isSettable) == [true, true, false])
    #expect(controls[1].menu.map(\.value) == [1, 3])
    #expect(controls[1].menu.map(\.name) == ["Manual Mode", "Aperture Priority Mode"])
  }

  @Test(
    "settings that a camera does not have are refused",
    arguments: [
      ("focus", "1", "brightness, auto_exposure, zoom_absolute"), ("brightness", "65", "-64 to 64"),
      ("brightness", "much", "'much'"), ("auto_exposure", "0", "within"),
      ("auto_exposure", "fast", "Manual Mode"),
      ("zoom_absolute", "200", "cannot be changed now"), ("brightness", "9999999999999999999", "99999"),
    ])
  func refusesSettings(name: String, value: String, message: String) {
    let driver = FakeCamera([])
    let error = #expect(throws: ApusError.self) {
      try V4L2Controls(path: "/dev/video9", ask: driver.ask).set(name, to: value)
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func refusesWhatIsNoCamera() {
    func message(_ driver: FakeCamera, _ format: String? = nil) -> String {
      do throws(ApusError) {
        var options = CameraOptions()
        options.format = format
        _ = try V4L2Capture(path: "/dev/video9", driver: driver, options: options, pixelLimit: 1 << 20)
        return ""
      } catch { return error.message }
    }
    #expect(message(FakeCamera([], abilities: 0x0420_0000)).contains("captures no video"))
    #expect(message(FakeCamera([], abilities: 0x0420_1000)).contains("only into several"))
    #expect(message(FakeCamera([], abilities: 0x0120_0001)).contains("shares no memory"))
    #expect(message(FakeCamera([], codes: ["H264"])).contains("H264, none of which is read"))
    #expect(message(FakeCamera([]), "NV12").contains("it has YUYV, MJPG"))
    #expect(message(FakeCamera([], codes: ["H264", "YUYV"]), "H264").contains("are not read"))
    #expect(message(FakeCamera([], bufferCount: 0)).contains("0 buffers"))
    #expect(message(FakeCamera([], bufferCount: 4_000_000)).contains("4000000 buffers"))
    #expect(message(FakeCamera([], bufferByteCount: 0)).contains("buffer of 0 bytes"))
  }

  @Test(
    "numbers that cannot be are an error",
    arguments: [(9, 1), (0, 65), (UInt32.max, UInt32.max)] as [(UInt32, UInt32)])
  func refusesLies(index: UInt32, used: UInt32) throws {
    let camera = try capture(FakeCamera([.lie(index: index, used: used)]))
    #expect(throws: ApusError.self) { try camera.next(milliseconds: 10) }
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  @Test func opensACameraAgainThatCameBack() throws {
    let opened = Counter()
    var options = VideoSource.Options()
    options.stallLimit = .seconds(5)
    let source = try VideoSource(camera: VideoLocation("/dev/video9"), options) {
      () throws(ApusError) -> any V4L2Driver in
      let count = opened.next()
      // Not yet back.
      if count == 2 { throw ApusError(.unreadableFile, "cannot open '/dev/video9'") }
      return FakeCamera([.frame(Self.frame), .nothing, .frame([1, 2]), .nothing, .error(ENODEV)])
    }
    var numbers: [Int] = []
    while numbers.count < 2, let frame = try source.waitForNext() {
      #expect(frame.raw.bytes == Self.frame)
      numbers.append(frame.number)
    }
    // The second frame of each time is cut short. A reader that is late misses frames, as with any live source.
    #expect(numbers.count == 2 && numbers.allSatisfy { $0.isMultiple(of: 2) } && numbers == numbers.sorted())
    #expect(source.statistics.restarts >= 2 && source.statistics.damaged >= 1)
    source.stop()
  }

  @Test func aCameraThatNeverDeliveredIsAnError() async throws {
    for (step, message) in [
      (FakeCamera.Step.error(ENODEV), "is gone"), (FakeCamera.Step.error(EIO), "no frames any more"),
    ] {
      let source = try VideoSource(camera: VideoLocation("/dev/video9"), VideoSource.Options()) {
        () throws(ApusError) -> any V4L2Driver in FakeCamera([step])
      }
      let error = await #expect(throws: ApusError.self) { for try await _ in source {} }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
    var options = VideoSource.Options()
    options.stallLimit = .seconds(0.3)
    let still = try VideoSource(camera: VideoLocation("/dev/video9"), options) {
      () throws(ApusError) -> any V4L2Driver in FakeCamera([])
    }
    let error = await #expect(throws: ApusError.self) { for try await _ in still {} }
    #expect(error?.message.contains("stalled") == true)
  }

  @Test("times of frames grow, whatever the driver's are")
  func timesGrow() throws {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let camera = FakeCamera([])
    // Two seconds ago: no later than now, and no more than ten seconds before.
    camera.state.withLock { $0.seconds = UInt32(now.tv_sec - 2) }
    let source = try VideoSource(camera: VideoLocation("/dev/video9"), VideoSource.Options()) {
      () throws(ApusError) -> any V4L2Driver in camera
    }
    var times: [Double] = []
    for stamp in [500_000, 499_000, 499_000, 100_000, 500_000, 900_000] as [UInt32] {
      camera.state.withLock { $0.steps.append(.frame(Self.frame, microseconds: stamp)) }
      times.append(try #require(try source.waitForNext()).time)
    }
    source.stop()
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    #expect(times[0] == 0 && times[4] < 0.1 && (0.3..<0.5).contains(times[5]), "\(times)")
  }

  #if os(Linux)
    @Test("a file's users are known by all of its names")
    func findsUsersOfAFile() throws {
      try withTemporaryFolder { folder in
        let (file, link) = (folder.appending(path: "device"), folder.appending(path: "link"))
        // Only other programs open it: those that other tests start at the same time inherit what is open here.
        let maker = Process()
        maker.executableURL = URL(filePath: "/bin/sh")
        maker.arguments = ["-c", "echo > '\(file.path)' && ln -s '\(file.path)' '\(link.path)'"]
        try maker.run()
        maker.waitUntilExit()
        #expect(maker.terminationStatus == 0 && FileUsers.of(file.path) == nil)
        let user = Process()
        user.executableURL = URL(filePath: "/bin/sh")
        user.arguments = ["-c", "exec sleep 60 < '\(file.path)'"]
        try user.run()
        defer { user.terminate() }
        let expected = "sleep (\(user.processIdentifier))"
        // The program begins in its own time.
        for _ in 0..<1_000 where FileUsers.of(file.path) != expected { usleep(10_000) }
        for path in [file.path, link.path] { #expect(FileUsers.of(path) == expected) }
      }
    }
  #endif

  @Test(
    "a camera whose every frame is damaged is an error", .timeLimit(.minutes(1)),
    arguments: [
      (FakeCamera.Step.frame([1, 2]), "takes 16 bytes, but has 2; 300 frames in a row are damaged"),
      (.frame(frame, flags: 0x2040), "its driver says that 300 frames in a row are damaged"),
    ])
  func aCameraOfDamagedFramesIsAnError(step: FakeCamera.Step, message: String) async throws {
    var options = VideoSource.Options()
    options.stallLimit = .seconds(20)
    let source = try VideoSource(camera: VideoLocation("/dev/video9"), options) {
      () throws(ApusError) -> any V4L2Driver in
      // One at a time: of those that wait together, only the newest is looked at.
      FakeCamera((0..<600).map { $0.isMultiple(of: 2) ? step : .nothing })
    }
    let error = await #expect(throws: ApusError.self) { for try await _ in source {} }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(source.statistics.damaged == 300 && source.statistics.restarts == 0)
  }

  @Test("frames of Motion-JPEG with damaged pixels are counted, and read", .timeLimit(.minutes(1)))
  func countsDamagedJPEGs() throws {
    var random = SeededGenerator(seed: 9)
    let pixels = (0..<64 * 48).map { _ in UInt8.random(in: 0...255, using: &random) }
    let whole = try ImageBuffer(bytes: pixels, width: 64, height: 48, format: .gray).encoded(as: .jpeg)
    var damaged = whole
    for index in whole.count / 2..<whole.count - 64 {
      damaged[index] = UInt8.random(in: 0...254, using: &random)
    }
    // Many cameras fill up their frames so; no pixel is wrong.
    let padded = Array(whole.dropLast(2)) + [0, 0, 0, 0] + whole.suffix(2)
    for (frame, count) in [(whole, 0), (damaged, 1), (padded, 0)] {
      let camera = FakeCamera([.frame(frame)], codes: ["MJPG"], bufferByteCount: 1 << 14)
      camera.state.withLock { ($0.width, $0.height) = (64, 48) }
      let source = try VideoSource(camera: VideoLocation("/dev/video9"), VideoSource.Options()) {
        () throws(ApusError) -> any V4L2Driver in camera
      }
      let read = try source.waitForNext()
      #expect(read?.raw.width == 64)
      let statistics = source.statistics
      source.stop()
      #expect(statistics.arrived == 1 && statistics.damaged == count, "\(statistics)")
      #expect((statistics.damageReason == nil) == (count == 0), "\(statistics)")
    }
  }

  @Test func aReaderSlowerThanTheCameraGetsNewFrames() throws {
    // Thirty frames a second against a reader of 100 ms.
    let header = "printf 'YUV4MPEG2 W4 H2 F30:1 C420jpeg\\n';"
    let frames = "while true; do printf 'FRAME\\n0123456789ab'; sleep 0.033; done"
    var options = VideoSource.Options()
    options.isLive = true
    let source = try VideoSource(
      VideoLocation("test:testsrc2"), options, program: "/bin/sh", ["-c", header + frames])
    var ages: [Double] = []
    while ages.count < 20, let frame = try source.waitForNext() {
      ages.append((ContinuousClock.now - frame.arrival) / .seconds(1))
      usleep(100_000)
    }
    source.stop()
    ages.sort()
    // A queue would be 1.3 seconds behind in the end. The median: a busy machine delays single frames.
    #expect(ages.count == 20 && ages[10] < 0.4, "\(ages)")
    // A queue would drop none.
    #expect(source.statistics.dropped > 0, "\(source.statistics)")
  }
}
