// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import Foundation
import Synchronization
import TestSupport
import Testing

/// Sources that a shell script plays, in ffmpeg's place, and ffmpeg itself where it is installed.
@Suite(.serialized) struct VideoSourceTests {
  static let hasFFmpeg = ChildProcess.find("ffmpeg") != nil

  /// A source of what a script writes.
  func source(
    _ script: String, as name: String = "test:testsrc2",
    _ change: (inout VideoSource.Options) -> Void = { _ in }
  ) throws -> VideoSource {
    var options = VideoSource.Options()
    options.stallLimit = .seconds(1)
    change(&options)
    return try VideoSource(VideoLocation(name), options, program: "/bin/sh", ["-c", script])
  }

  static let header = "printf 'YUV4MPEG2 W4 H2 F10:1 C420jpeg\\n';"
  static let frame = "printf 'FRAME\\n0123456789ab';"

  func collect(_ source: VideoSource) async -> (frames: [VideoFrame], error: ApusError?) {
    var frames: [VideoFrame] = []
    do throws(ApusError) { for try await frame in source { frames.append(frame) } } catch {
      return (frames, error)
    }
    return (frames, nil)
  }

  @Test func deliversEveryFrameOfAFileInOrder() async throws {
    let (frames, error) = await collect(try source(Self.header + String(repeating: Self.frame, count: 50)))
    #expect(error == nil && frames.map(\.number) == Array(0..<50))
    #expect(frames.last?.time == 4.9)
    #expect(frames.first?.raw.bytes == Array("0123456789ab".utf8) && frames.first?.raw.layout == .i420)
    #expect(frames.first?.picture().width == 4)
  }

  @Test("times are those that ffmpeg states, also where it starts anew, and else go on at the stream's rate")
  func takesStatedTimes() async throws {
    func stated(_ line: String) -> String { "echo '[Parsed_showinfo_1 @ 0x5] [info] \(line)' >&2;" }
    func frame(_ number: Int, _ pts: String) -> String {
      stated("n:   \(number) pts:  \(pts) pts_time:7 pos: 48 fmt:yuv420p") + stated("  side data - n: 9")
        + Self.frame
    }
    let script = [
      Self.header, stated("config in time_base: 1/1000, frame_rate: 10/1"), frame(0, "40"), frame(1, "40"),
      frame(2, "1234567890"), stated("config in time_base: 1001/30000, frame_rate: 0/0"),
      frame(0, "60000000"),
      frame(1, "NOPTS"), frame(2, "90000000"), frame(3, "1e300"), frame(4, "nan"), frame(-5, "99000000"),
    ]
    let (frames, error) = await collect(try source(script.joined()) { $0.start = 0.5 })
    #expect(error == nil && frames.count == 9)
    let expected = [0.54, 0.540001, 1_234_568.39, 2_002_000.5]
    #expect(
      zip(frames.map(\.time), expected).allSatisfy { abs($0 - $1) < 1e-9 * $1 }, "\(frames.map(\.time))")
    #expect(abs(frames[5].time - 3_003_000.5) < 1e-3)
    #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.time < $1.time })
  }

  @Test("times go on where those of a file jump back, unless by a few frames out of order")
  func goesOnWhereTimesJumpBack() async throws {
    func times(_ milliseconds: [Int]) async throws -> [Double] {
      var script = Self.header + "echo '[Parsed_showinfo_1 @ 0x5] [info] config in time_base: 1/1000' >&2;"
      for (number, time) in milliseconds.enumerated() {
        script +=
          "echo '[Parsed_showinfo_1 @ 0x5] [info] n: \(number) pts: \(time) pos: 48' >&2;" + Self.frame
      }
      let (frames, error) = await collect(try source(script))
      #expect(error == nil && frames.count == milliseconds.count)
      return frames.map { ($0.time * 1e4).rounded() / 1e4 }
    }
    // The recorder's clock begins anew twice; a frame takes 0.1 seconds.
    let jumps = try await times([0, 100, 200, 900, 1000, 0, 100, 1500, 20, 120])
    #expect(jumps == [0, 0.1, 0.2, 0.9, 1, 1.1, 1.2, 2.6, 2.7, 2.8])
    // One damaged time is told from a clock that begins anew by the next one.
    let damaged = try await times([
      0, 100, 42_000, 300, 400, 500, 600, 700, 20, 900, 11_000_000, 1100, 1200, 90_000, 90_100,
    ])
    #expect(damaged == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 90, 90.1])
    let trembling = try await times([0, 100, 300, 200, 400, 400, 500])
    #expect(trembling == [0, 0.1, 0.3, 0.3, 0.4, 0.4, 0.5])
  }

  /// A frame with the two lines that ffmpeg's filter writes of it.
  static func described(_ number: Int, size: String, matrix: String = "unknown", range: String = "tv")
    -> String
  {
    "echo '[Parsed_showinfo_1 @ 0x5] [info] n:   \(number) pts:  \(number) pos: 48 fmt:yuv420p sar:1/1 s:\(size) i:P' >&2;"
      + "echo '[Parsed_showinfo_1 @ 0x5] [info] color_range:\(range) color_space:\(matrix) color_trc:bt709' >&2;"
      + frame
  }

  @Test("each frame has the colors that ffmpeg says of it")
  func takesColorsOfFrames() async throws {
    let script =
      Self.header + Self.described(0, size: "4x2", matrix: "smpte170m")
      + Self.described(1, size: "4x2", matrix: "bt709", range: "pc") + Self.described(2, size: "4x2")
      + Self.described(3, size: "4x2", matrix: "bt2020nc", range: "unknown")
    let (frames, error) = await collect(try source(script))
    #expect(error == nil)
    #expect(frames.map(\.raw.color.matrix) == [.bt601, .bt709, .bt601, .bt2020])
    #expect(frames.map(\.raw.color.range) == [.limited, .full, .limited, .limited])
  }

  @Test("frames of another size than the first one end a file, and start a live stream anew")
  func noticesOtherSizes() async throws {
    let script = Self.header + Self.described(0, size: "4x2") + "sleep 0.3;" + Self.described(1, size: "8x2")
    let (frames, error) = await collect(try source(script))
    #expect(frames.count == 1 && error?.code == .unsupportedImage)
    #expect(error?.message.contains("frame 1 has 8 × 2 pixels, and those before it 4 × 2") == true)

    let live = try source(script, as: "rtsp://camera/1")
    var numbers: [Int] = []
    for try await frame in live {
      numbers.append(frame.number)
      if numbers.count == 2 { break }
    }
    #expect(numbers == [0, 1] && live.statistics.restarts >= 1)
  }

  @Test(
    "what lies, stops or is cut short is an error with the source's name",
    arguments: [
      ("exit 0", "has no frames"), ("echo 'no such thing' >&2; exit 1", "no such thing"),
      ("echo hello", "begins with 'hello'"),
      (header + "printf 'FRAME\\n0123'", "in the middle of a frame, after 4 of 12 bytes"),
      (header + frame + "printf 'FLAME\\n0123456789ab'", "not with FRAME"),
      (header + frame + "printf 'FR'", "in the middle of a frame"),
      (header + frame + "sleep 30", "stalled"), ("sleep 30", "stalled"),
      ("printf 'YUV4MPEG2 W999999 H999999 F1:1\\n'", "beyond the limit"),
      ("printf 'YUV4MPEG2 W-4 H2\\n'", "empty"),
      ("printf 'YUV4MPEG2 W30000 H8000 F1:1\\n'", "more than the limit"),
      ("printf 'YUV4MPEG2 W4 H4 C444\\n'", "chroma '444'"), ("head -c 5000 /dev/zero", "longer than 1024"),
      (header + frame + "echo broken >&2; kill -9 $$", "broken"),
      (header + frame + "printf '[Parsed_showinfo_1 @ 0x5] ' >&2; kill -9 $$", "was killed (signal 9)"),
      (header + frame + "printf '[h264 @ 0x5] [info] ' >&2; kill -9 $$", "was killed (signal 9)"),
      (header + frame + "kill -SEGV $$", "the program /bin/sh crashed (signal 11)"),
      ("echo broken >&2; kill -ABRT $$", "crashed (signal 6); its last error: broken"),
      (header + "printf 'FRAME\\n0123'; kill -SEGV $$", "after 4 of 12 bytes: the program /bin/sh crashed"),
      ("exit 3", "the program /bin/sh ended with status 3"),
      (header + frame + "printf 'broken' >&2; kill -9 $$", "broken"),
    ])
  func reportsHostileSources(script: String, message: String) async throws {
    let (_, error) = await collect(try source(script))
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "no error")")
    #expect(error?.message.contains("test:testsrc2") == true)
  }

  @Test(
    "a version of ffmpeg that does not know the names of options gets older ones, or is said to be too old")
  func readsWithOlderVersions() async throws {
    try await withTemporaryFolderAsync { folder in
      func collected(_ script: String) async throws -> (frames: [VideoFrame], error: ApusError?) {
        let program = folder.appending(path: "ffmpeg.sh")
        try Data(script.utf8).write(to: program)
        let location = try VideoLocation("test:testsrc2")
        let options = VideoSource.Options()
        let arguments = [program.path(percentEncoded: false)] + location.arguments(options)
        return await collect(try VideoSource(location, options, program: "/bin/sh", arguments))
      }
      let old = try await collected(
        """
        case "$*" in
        *-fps_mode*) echo "[error] Unrecognized option 'fps_mode'." >&2; exit 1;;
        *"-vsync passthrough"*) \(Self.header) \(Self.frame) \(Self.frame) exit 0;;
        esac
        exit 2
        """)
      #expect(old.frames.count == 2 && old.error == nil, "\(String(describing: old.error))")
      let ancient = try await collected(
        """
        echo "[error] Unrecognized option 'format_whitelist'." >&2
        echo '[fatal] Error splitting the argument list: Option not found' >&2; exit 1
        """)
      #expect(
        ancient.error?.message.hasSuffix("/bin/sh is too old; ffmpeg 4.2 or newer is needed") == true,
        "\(String(describing: ancient.error))")
    }
  }

  @Test(
    "frames that ffmpeg calls damaged are counted, at least as many as there are",
    arguments: [
      (
        [
          "[warning] file:film.avi: corrupt input packet in stream 0",
          "[mpeg4 @ 0x5] [info] concealing 277 DC, 277 AC, 277 MV errors in I frame",
          "[warning] file:film.avi: corrupt decoded frame in stream 0",
        ], 1
      ),
      (["[in#0/ivf @ 0x5] [warning] corrupt input packet in stream 0"], 1),
      (
        [
          "[vist#0:0/mpeg4 @ 0x5] [dec:mpeg4 @ 0x6] [warning] corrupt decoded frame",
          "    Last message repeated 2 times",
        ], 3
      ),
      (["[error] Error while decoding stream #0:0: Invalid data found when processing input"], 1),
      (["[vist#0:0/apng @ 0x5] [dec:apng @ 0x6] [error] Decoding error: Invalid data found"], 1),
      (["[mjpeg @ 0x5] [error] overread 8", "[mjpeg @ 0x5] [error] overread 9"], 2),
      // Whole pictures may lack their last marker.
      (["[mjpeg @ 0x5] [warning] EOI missing, emulating", "    Last message repeated 2 times"], 0),
      (["[avi @ 0x5] [warning] Packet corrupt (stream = 0, dts = 12)."], 0),
      // Metadata of a film.
      (
        [
          "[info]     title           : concealing 2 DC", "[info]     x : [warning] x: corrupt decoded frame",
        ], 0
      ),
    ])
  func countsDamagedFrames(messages: [String], expected: Int) async throws {
    let lines = messages.map { "echo '\($0)' >&2;" }.joined()
    let film = try source(
      Self.header + Self.described(0, size: "4x2") + lines + Self.described(1, size: "4x2"))
    let (frames, error) = await collect(film)
    #expect(error == nil && frames.count == 2)
    #expect(film.statistics.damaged == expected && (film.statistics.damageReason != nil) == (expected > 0))
    #expect(film.statistics.arrived == 2)
    // A stream that is joined in the middle begins with the first frame that can be decoded.
    let stream = try source(
      Self.header + lines + Self.described(0, size: "4x2"), as: "http://camera/film.ts")
    #expect(await collect(stream).frames.count == 1 && stream.statistics.damaged == 0)
    // A file is looked at to recognize it, and then read from its beginning.
    try await withTemporaryFolderAsync { folder in
      let path = folder.appending(path: "film.avi").path(percentEncoded: false)
      try Data([0]).write(to: URL(filePath: path))
      let script = lines + "echo \"[info] Input #0, avi, from 'file:film.avi':\" >&2;" + lines + Self.header
      let file = try source(script + Self.described(0, size: "4x2"), as: path)
      #expect(await collect(file).frames.count == 1 && file.statistics.damaged == expected)
    }
  }

  @Test(
    "a rate above 240 counts if the first frames are as close together",
    arguments: [
      ("300:1", 300, 300), ("300:1", 25, nil), ("1000:1", 1000, 1000), ("1000:1", 30, nil),
      ("90000:1", 90_000, nil), ("240:1", 25, 240), ("480:1", nil, nil),
    ] as [(String, Int?, Double?)])
  func believesHighRates(announced: String, ticks: Int?, expected: Double?) async throws {
    var script = "printf 'YUV4MPEG2 W4 H2 F\(announced) C420jpeg\\n';"
    if let ticks { script += "echo '[Parsed_showinfo_1 @ 0x5] [info] config in time_base: 1/\(ticks)' >&2;" }
    for number in 0..<3 { script += Self.described(number, size: "4x2") }
    let film = try source(script)
    let first = try await film.first { _ in true }
    #expect(first?.number == 0 && film.frameRate() == expected)
    #expect(await collect(try source(script)).frames.map(\.number) == [0, 1, 2])
    let single = "printf 'YUV4MPEG2 W4 H2 F\(announced)\\n';" + Self.frame
    #expect(await collect(try source(single)).frames.count == 1)
  }

  @Test(
    "a reason is ffmpeg's cause, not its last words",
    arguments: [
      (
        [
          "[tcp @ 0x5] [error] Failed to resolve hostname camera: Name or service not known",
          "[error] http://camera/1: Input/output error",
        ], "Failed to resolve hostname camera: Name or service not known"
      ),
      (
        ["[IMGUTILS @ 0x5] [error] Picture size 0x240 is invalid", "[error] Device or resource busy"],
        "its header is damaged: Picture size 0x240 is invalid"
      ),
      (
        [
          "[buffer @ 0x5] [error] Value -0.500000 for parameter 'pixel_aspect' out of range [0 - 1.79769e+308]",
          "[fatal] Error while processing the decoded data for stream #0:0",
        ], "its header is damaged: the ratio of its pixels' sides is impossible"
      ),
      (
        [
          "[error] http://camera/1: Protocol not found", "[error] Did you mean file:http://camera/1?",
        ], "the program /bin/sh was built without this protocol"
      ),
      (
        [
          "[http @ 0x5] [warning] Protocol 'file' not on whitelist 'http,tcp'!",
          "[error] http://camera/1: Invalid argument",
        ], "it leads to an address of another protocol, file: name that address itself"
      ),
      (["[error] http://camera/1: Connection refused"], "Connection refused"),
    ])
  func namesCauses(messages: [String], reason: String) async throws {
    let script = messages.map { "echo \"\($0)\" >&2;" }.joined() + "exit 1"
    let (_, error) = await collect(try source(script, as: "http://camera/1"))
    #expect(error?.message == "cannot read 'http://camera/1': \(reason)")
  }

  @Test("a size beyond the limit of pixels is refused before anything is opened")
  func refusesLargeSizes() throws {
    var options = VideoSource.Options()
    options.size = (8192, 4096)
    try VideoSource.check("film.mp4", options: options)
    options.size = (8192, 4097)
    let error = #expect(throws: ApusError.self) { try VideoSource.check("film.mp4", options: options) }
    #expect(error?.message.contains("more pixels than the limit of 33554432") == true)
  }

  @Test func startsALiveSourceAgainAndCountsIt() async throws {
    let live = try source(Self.header + Self.frame, as: "rtsp://camera/1")
    var numbers: [Int] = []
    for try await frame in live {
      numbers.append(frame.number)
      if numbers.count == 3 { break }
    }
    live.stop()
    // Each frame but the first follows a restart. The source goes on, so that later ones may be counted already.
    #expect(numbers == [0, 1, 2] && live.statistics.restarts >= 2, "\(live.statistics)")
    #expect(live.statistics.restartReason == "cannot read 'rtsp://camera/1': it has ended")
  }

  @Test("a live source tells when it is interrupted and when it goes on, however often it is started again")
  func tellsOfInterruptions() async throws {
    // The first start gives two frames, the next two fail, and the last one gives a frame again.
    try await withTemporaryFolderAsync { folder in
      let count = folder.appending(path: "count").path
      let script = """
        echo x >> \(count); case $(wc -l < \(count)) in 2|3) echo '[error] gone' >&2; exit 1;; esac
        \(Self.header) \(Self.frame) \(Self.frame)
        """
      let live = try source(script, as: "rtsp://camera/1")
      let heard = Mutex<[String]>([])
      live.observeInterruptions { interruption in
        switch interruption {
        case .began(let reason): heard.withLock { $0.append(reason) }
        case .ended: heard.withLock { $0.append("ended") }
        }
      }
      for try await frame in live where frame.number >= 2 { break }
      live.stop()
      #expect(
        heard.withLock { Array($0.prefix(2)) } == ["cannot read 'rtsp://camera/1': it has ended", "ended"])
      #expect(live.statistics.restarts >= 3)
    }
  }

  @Test("a file that is taken as live ends at its end", arguments: ["test:testsrc2", "film.mp4"])
  func endsAFileThatIsTakenAsLive(name: String) async throws {
    try await withTemporaryFolderAsync { folder in
      let path = name.hasPrefix("test:") ? name : folder.appending(path: name).path
      if path != name { try Data([0]).write(to: URL(filePath: path)) }
      let live = try source(Self.header + Self.frame, as: path) { $0.isLive = true }
      let (frames, error) = await collect(live)
      #expect(frames.count == 1 && error == nil && live.statistics.restarts == 0)
    }
  }

  @Test("of the frames that come at once when a stream is opened, the newest counts")
  func dropsWhatWasGathered() async throws {
    // As of a camera of ten frames a second that is looked at after a second: six at once, then the others in time.
    let script =
      "sleep 1; \(Self.header)" + String(repeating: Self.frame, count: 6)
      + String(repeating: "sleep 0.2;" + Self.frame, count: 3) + "sleep 30"
    let live = try source(script, as: "rtsp://camera/1") { $0.stallLimit = .seconds(10) }
    var frames: [VideoFrame] = []
    while frames.count < 4, let frame = try live.waitForNext() { frames.append(frame) }
    #expect(frames.map(\.number) == [5, 6, 7, 8] && frames.first?.time == 0)
    #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.time - $0.time > 0.1 }, "\(frames.map(\.time))")
    #expect(live.statistics.dropped == 5 && live.statistics.arrived == 9)
    live.stop()
    // A sender that is faster than time keeps most of its frames.
    let fast = try source(
      Self.header + String(repeating: Self.frame + "sleep 0.001;", count: 100), as: "tcp://camera"
    ) {
      $0.restartLimit = 0
    }
    let (some, _) = await collect(fast)
    #expect(some.first.map { $0.number < 50 } == true && some.last?.number == 99)
  }

  @Test("a film that is read as it is played may have pictures that are far apart")
  func waitsForAFilmThatIsPlayed() async throws {
    let script = Self.header + Self.frame + "sleep 1.5;" + Self.frame
    let (frames, error) = await collect(try source(script) { $0.isRealTime = true })
    #expect(error == nil && frames.count == 2)
    let stalled = await collect(try source(script, as: "http://camera/film.ts") { $0.isRealTime = true })
    #expect(stalled.error?.message.contains("stalled: no frame for 1.0 seconds") == true)
  }

  @Test func doesNotTryForEverWhatNeverDelivered() async throws {
    let (frames, error) = await collect(try source("echo refused >&2; exit 3", as: "rtsp://camera/1"))
    #expect(frames.isEmpty && error?.message.contains("refused") == true)
  }

  @Test func keepsTheNewestFrameOfALiveSource() async throws {
    let live = try source(Self.header + String(repeating: Self.frame, count: 40) + "sleep 30") {
      $0.isLive = true
      $0.restartLimit = 0
    }
    try await Task.sleep(for: .milliseconds(500))
    let frame = try #require(try await live.first { _ in true })
    #expect(frame.number == 39)
    #expect(live.statistics.dropped == 39 && live.statistics.arrived == 40)
    live.stop()
    #expect(try await live.first { _ in true } == nil)
  }

  @Test func doesNotCountFramesThatWereReadAhead() async throws {
    let file = try source(Self.header + String(repeating: Self.frame, count: 40))
    _ = try #require(try await file.first { _ in true })
    // Time to read ahead.
    try await Task.sleep(for: .milliseconds(200))
    file.stop()
    #expect(file.statistics.arrived == 1)
  }

  @Test func endsItsProcessWithTheReader() async throws {
    try await withTemporaryFolderAsync { folder in
      let file = folder.appending(path: "pid")
      var endless: VideoSource? = try source(
        "echo $$ > '\(file.path)'; \(Self.header) while true; do \(Self.frame) done")
      _ = try await endless?.first { _ in true }
      let process = try #require(
        pid_t(String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
      endless = nil
      for _ in 0..<100 where kill(process, 0) == 0 { try await Task.sleep(for: .milliseconds(50)) }
      #expect(kill(process, 0) != 0, "the process still runs, or is a zombie")
    }
  }

  @Test func stopsWhenItsTaskIsCancelled() async throws {
    let endless = try source("sleep 30") { $0.stallLimit = .seconds(60) }
    let task = Task { try await endless.first { _ in true } }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()
    // An end without an error would say that there are no more frames.
    let error = await #expect(throws: ApusError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(try await endless.first { _ in true } == nil)
  }

  @Test("a cancelled reader gets an error though the source has ended, one that stops it the end")
  func tellsAStopFromACancellation() async throws {
    for isCancelled in [true, false] {
      let film = try source(Self.header + Self.frame + Self.frame + Self.frame)
      let reader = Task {
        var frames = film.makeAsyncIterator()
        _ = try await frames.next()
        // The source has come to its end meanwhile, and its last frames wait.
        try? await Task.sleep(for: .milliseconds(300))
        if isCancelled { withUnsafeCurrentTask { $0?.cancel() } } else { film.stop() }
        return try await frames.next()
      }
      if isCancelled {
        let error = await #expect(throws: ApusError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
      } else {
        #expect(try await reader.value == nil)
      }
    }
  }

  @Test("a stream of which ffmpeg makes no frames stalls with what ffmpeg says of it")
  func namesWhatFFmpegSaysOfAStall() async throws {
    let script = "echo '[h264 @ 0x5] [error] non-existing PPS 0 referenced' >&2; sleep 30"
    let (_, error) = await collect(try source(script, as: "http://camera/film.ts"))
    let words = "no frame for 1.0 seconds; ffmpeg's last error: non-existing PPS 0 referenced"
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}

/// Runs code with a folder that is then removed.
func withTemporaryFolderAsync(_ body: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder)
}
