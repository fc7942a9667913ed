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
  private static let hasFFmpeg = ChildProcess.find("ffmpeg") != nil

  /// A source of what a script writes.
  private func source(
    _ script: String, as name: String = "test:testsrc2",
    _ change: (inout VideoSource.Options) -> Void = { _ in }
  ) throws -> VideoSource {
    var options = VideoSource.Options()
    options.stallLimit = .seconds(1)
    change(&options)
    return try VideoSource(VideoLocation(name), options, program: "/bin/sh", ["-c", script])
  }

  private static let header = "printf 'YUV4MPEG2 W4 H2 F10:1 C420jpeg\\n';"
  private static let frame = "printf 'FRAME\\n0123456789ab';"

  private func collect(_ source: VideoSource) async -> (frames: [VideoFrame], error: ApusError?) {
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
  private static func described(_ number: Int, size: String, matrix: String = "unknown", range: String = "tv")
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

  @Test("ffmpeg's own frames of two sizes, and of two matrices", .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func noticesChangesOfFilms() async throws {
    try await withTemporaryFolderAsync { folder in
      func part(_ name: String, _ size: String, _ matrix: String) throws -> Data {
        let made = try shell(
          """
          ffmpeg -loglevel error -f lavfi -i testsrc2=size=\(size):rate=10:duration=0.5 -c:v mpeg2video -pix_fmt yuv420p \
          -colorspace \(matrix) \(name)
          """, in: folder)
        #expect(made.status == 0, "\(made.errors)")
        return try Data(contentsOf: folder.appending(path: name))
      }
      let small = try part("a.ts", "64x48", "smpte170m")
      let film = folder.appending(path: "film.ts")
      try (small + part("b.ts", "96x64", "smpte170m")).write(to: film)
      let (frames, error) = await collect(try VideoSource(film.path))
      #expect(!frames.isEmpty && error?.message.contains("96 × 64 pixels") == true)
      var options = VideoSource.Options()
      options.size = (width: 32, height: 32)
      let scaled = await collect(try VideoSource(film.path, options: options))
      #expect(scaled.error == nil && scaled.frames.count > frames.count)

      try (small + part("c.ts", "64x48", "bt709")).write(to: film)
      let mixed = await collect(try VideoSource(film.path))
      #expect(mixed.error == nil)
      #expect(mixed.frames.first?.raw.color.matrix == .bt601 && mixed.frames.last?.raw.color.matrix == .bt709)
    }
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
      (header + frame + "printf '[Parsed_showinfo_1 @ 0x5] ' >&2; kill -9 $$", "it was killed"),
      (header + frame + "printf '[h264 @ 0x5] [info] ' >&2; kill -9 $$", "it was killed"),
      (header + frame + "printf 'broken' >&2; kill -9 $$", "broken"),
    ])
  func reportsHostileSources(script: String, message: String) async throws {
    let (_, error) = await collect(try source(script))
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "no error")")
    #expect(error?.message.contains("test:testsrc2") == true)
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

  @Test("a name that can never be right is refused before anything is opened")
  func checksNames() throws {
    try VideoSource.check("rtsp://camera/1")
    try VideoSource.check("missing.mp4")
    for name in ["test:shapes", "ftp://ada:s3cret@host/film.mp4", "-", ""] {
      #expect(throws: ApusError.self) { try VideoSource.check(name) }
    }
  }

  @Test(
    "Motion-JPEG that comes picture by picture over HTTP is live, everything else there a file",
    arguments: [("mpjpeg", nil, true), ("mpegts", nil, false), ("mpjpeg", false, false)]
      as [(String, Bool?, Bool)])
  func tellsCamerasFromFilmsOverHTTP(format: String, isLive: Bool?, expected: Bool) async throws {
    let script =
      "echo \"[info] Input #0, \(format), from 'http://camera/1':\" >&2; \(Self.header) \(Self.frame) sleep 0.5; \(Self.frame)"
    let source = try source(script, as: "http://camera/1") { options in
      options.isLive = isLive
      options.restartLimit = 0
    }
    let (frames, error) = await collect(source)
    #expect(error == nil && frames.count == 2 && source.isLive == expected)
    let time = try #require(frames.last).time
    #expect(expected ? (0.4..<5).contains(time) : time == 0.1, "\(time)")
  }

  @Test(
    "a film over HTTP whose title is a line of ffmpeg stays a film",
    arguments: [
      "    title           : Input #0, mpjpeg, from x",
      "  Stream #0:0(Input #0, mpjpeg, from x): Video: h264",
    ])
  func doesNotBelieveTitles(title: String) async throws {
    let script = "echo \"[info] \(title)\" >&2; \(Self.header) \(Self.frame) \(Self.frame)"
    let source = try source(script, as: "http://camera/1") { $0.restartLimit = 0 }
    let (frames, error) = await collect(source)
    #expect(error == nil && frames.count == 2 && !source.isLive)
  }

  @Test(
    "a per cent sign in the name of a picture stands for itself", .enabled(if: hasFFmpeg, "ffmpeg is missing")
  )
  func readsNamesWithPercent() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        "ffmpeg -loglevel error -f lavfi -i color=red:size=32x32:duration=0.04 -frames:v 1 a.png; for n in 1 2 3; do cp a.png seq$n.png; done; cp a.png 'seq%d.png'; cp a.png 'my%20dog.png'",
        in: folder)
      #expect(made.status == 0, "\(made.errors)")
      for name in ["seq%d.png", "my%20dog.png", "a.png"] {
        let (frames, error) = await collect(
          try VideoSource(folder.appending(component: name).path(percentEncoded: false)))
        #expect(error == nil && frames.count == 1, "\(name): \(error?.message ?? "")")
      }
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
    #expect(try await task.value == nil)
  }

  @Test(
    "names that stand for no source are refused",
    arguments: [
      "", "test:", "test:nothing", "test:testsrc2:4x4", "test:testsrc2:64x64:-1", "test:testsrc2,drawtext",
      "ftp://a/b",
      "concat://a", "/no/such/file.mp4", "/", "-i", "/dev/video99",
    ])
  func refusesNames(name: String) {
    #expect(throws: ApusError.self) { try VideoSource(name) }
  }

  @Test func namesOfFilesAreNoOptionsAndNoProtocols() throws {
    let options = VideoSource.Options()
    for name in ["-version", "concat:a|b", "http:x", "x;y", "$(id)"] {
      let arguments = try VideoLocation(name).arguments(options)
      #expect(arguments.contains("file:\(name)"))
      #expect(arguments[try #require(arguments.firstIndex(of: "-protocol_whitelist")) + 1] == "file")
    }
    let stream = try VideoLocation("rtsp://camera/1").arguments(options)
    #expect(stream[try #require(stream.firstIndex(of: "-protocol_whitelist")) + 1] == "rtsp,rtp,udp,tcp")
    #expect(try VideoLocation("rtsp://camera/1").isLive && !VideoLocation("film.mp4").isLive)
  }

  @Test(
    "no error shows the user and password of a URL",
    arguments: [
      "exit 1", "echo '[error] rtsp://ada:s3cret@camera/1: refused ada:s3cret' >&2; exit 1",
      "printf X; sleep 9",
      header + "printf 'FRAME\\n01'; echo '[error] rtsp://ada:s3cret@camera/1: gone' >&2; exit 1",
    ])
  func masksPasswords(script: String) async throws {
    let source = try source(script, as: "rtsp://ada:s3cret@camera/1") { $0.restartLimit = 0 }
    #expect(source.name == "rtsp://…@camera/1")
    let (_, error) = await collect(source)
    let message = try #require(error).message
    #expect(message.contains("'rtsp://…@camera/1'") && !message.contains("s3cret"), "\(message)")
    #expect(try self.source(script, as: "rtsp://a@b:c@camera/1@2").name == "rtsp://…@camera/1@2")
    #expect(try self.source(script, as: "http://camera/@1").name == "http://camera/@1")
    let unknown = #expect(throws: ApusError.self) { try VideoLocation("ftp://ada:s3cret@host/film.mp4") }
    #expect(unknown?.message.contains("s3cret") == false)
  }

  @Test(
    "of a URL, the user, the password, the query and parts with a value are not shown",
    arguments: [
      ("rtsp://ada:s3cret@camera/live?token=1234", "rtsp://…@camera/live?…"),
      ("http://camera:81/a.cgi?user=ada&pwd=s3cret#s3cret", "http://camera:81/a.cgi?…"),
      ("http://camera/a.mjpg#s3cret", "http://camera/a.mjpg#…"),
      ("http://camera?pwd=s3cret", "http://camera?…"),
      ("rtsp://camera:554/user=ada_password=s3cret_channel=1.sdp", "rtsp://camera:554/…"),
      ("http://ada:s3cret/t@camera/1", "http://…@camera/1"),
      ("rtsp://a@b:c@camera/1@2", "rtsp://…@camera/1@2"),
      ("rtsp://[::1]:554/1@2", "rtsp://[::1]:554/1@2"), ("rtsp://[fe80::1]/1@2", "rtsp://[fe80::1]/1@2"),
      ("rtsp+x://ada:s3cret@camera/1", "rtsp+x://…@camera/1"), ("http://camera/@1", "http://camera/@1"),
      ("film?a=b.mp4", "film?a=b.mp4"), ("/films/a://b?c.mp4", "/films/a://b?c.mp4"),
    ])
  func masksAddresses(name: String, shown: String) throws {
    let address = MaskedAddress(name)
    #expect(address.text == shown)
    #expect(MaskedAddress(shown).text == shown)
    guard shown.contains("…") else { return }
    #expect(address.masked("[error] '\(name)': refused") == "[error] '\(shown)': refused")
    #expect(address.masked("\(name): refused") == "\(shown): refused")
    let elsewhere = MaskedAddress("film.mp4").masked("from \(name), and \(name)")
    #expect(elsewhere == "from \(shown), and \(shown)")
  }

  @Test(
    "a file opens no other one, and frames beyond the limit are not decoded",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func staysInItsFile() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i testsrc2=size=640x480:rate=10:duration=0.3 film.mp4 && \
        printf '#EXTM3U\\n#EXT-X-TARGETDURATION:3\\n#EXTINF:3,\\nfile://%s/film.mp4\\n' "$PWD" > party.mp4 && \
        printf 'ffconcat version 1.0\\nfile film.mp4\\n' > holiday.mp4
        """, in: folder)
      try #require(made.status == 0)
      for name in ["party.mp4", "holiday.mp4"] {
        let (frames, error) = await collect(try VideoSource(folder.appending(path: name).path))
        #expect(
          frames.isEmpty && error?.message.contains("lists of other files") == true,
          "\(String(describing: error))")
      }
      var options = VideoSource.Options()
      options.pixelLimit = 100_000
      for size in [nil, (64, 48)] as [(Int, Int)?] {
        options.size = size
        let (frames, error) = await collect(
          try VideoSource(folder.appending(path: "film.mp4").path, options: options))
        #expect(
          frames.isEmpty && error?.message.contains("more pixels than the limit of 100000") == true,
          "\(String(describing: error))")
      }
    }
  }

  @Test(.enabled(if: hasFFmpeg, "ffmpeg is missing")) func readsTestPatterns() async throws {
    let (frames, error) = await collect(try VideoSource("test:smptebars:320x240:0.5"))
    #expect(error == nil && frames.count == 15)
    let picture = try #require(frames.last).picture()
    // The first bar is light gray, the third cyan, the sixth red.
    for (bar, color) in [(0, (180, 180, 180)), (2, (0, 180, 180)), (5, (180, 0, 0))] {
      let pixel = try #require(picture.pixel(x: 320 * (2 * bar + 1) / 14, y: 60))
      for (value, expected) in [(pixel.red, color.0), (pixel.green, color.1), (pixel.blue, color.2)] {
        #expect(abs(Int(value) - expected) <= 14, "bar \(bar): \(pixel)")
      }
    }
  }

  @Test(
    "a film's own matrix and range are heeded",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"),
    arguments: [
      ("out_color_matrix=bt601", "-pix_fmt yuv420p"),
      (
        "out_color_matrix=bt709",
        "-pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709"
      ),
      ("out_color_matrix=bt601:out_range=pc", "-pix_fmt yuvj420p"),
      (
        "out_color_matrix=bt2020",
        "-pix_fmt yuv420p -colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084"
      ),
      ("out_color_matrix=bt2020", "-pix_fmt yuv420p -colorspace bt2020c"),
      ("out_color_matrix=smpte240m", "-pix_fmt yuv420p -colorspace smpte240m"),
      ("out_color_matrix=fcc", "-pix_fmt yuv420p -colorspace fcc"),
    ])
  func heedsColors(filter: String, options: String) async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        "ffmpeg -loglevel error -f lavfi -i color=c=0xB020C8:size=64x48:rate=10:duration=0.5,format=rgb24 -vf scale=\(filter) -qp 1 \(options) film.mp4",
        in: folder)
      #expect(made.status == 0, "\(made.errors)")
      let (frames, error) = await collect(try VideoSource(folder.appending(path: "film.mp4").path))
      #expect(error == nil && frames.count == 5)
      let pixel = try #require(frames.last?.picture().pixel(x: 32, y: 24))
      for (value, expected) in [(pixel.red, 0xB0), (pixel.green, 0x20), (pixel.blue, 0xC8)] {
        #expect(abs(Int(value) - expected) <= 4, "\(pixel)")
      }
    }
  }

  @Test(
    "every frame of a film with a variable rate comes once, at its time",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func keepsTimesOfFilms() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i testsrc2=size=64x48:rate=30:duration=2 \
          -vf "settb=1/1000,setpts='33*N+6*mod(N,5)+500*gt(N,30)'" -fps_mode passthrough -enc_time_base 1/1000 -bf 2 film.mkv && \
        ffprobe -v error -select_streams v -show_entries frame=pts_time -of csv=p=0 film.mkv > times.txt
        """, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      let listed = try String(contentsOf: folder.appending(path: "times.txt"), encoding: .utf8)
      let times = listed.split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }
      #expect(
        times.count == 60 && Set(zip(times.dropFirst(), times).map { (($0 - $1) * 1000).rounded() }).count > 2
      )
      let path = folder.appending(path: "film.mkv").path
      var options = VideoSource.Options()
      let (frames, error) = await collect(try VideoSource(path, options: options))
      #expect(error == nil && frames.map(\.time) == times)
      // Again and again, and from a later frame on: times go on from there.
      options.loops = 1
      options.start = 1.2
      let later = await collect(try VideoSource(path, options: options)).frames.map(\.time)
      let rest = times.filter { $0 >= 1.2 }
      #expect(later.count > rest.count && zip(later, later.dropFirst()).allSatisfy { $0 < $1 })
      #expect(
        zip(later, rest).allSatisfy { abs($0 - $1) < 0.002 }, "\(later.prefix(3)), not \(rest.prefix(3))")
    }
  }

  @Test(
    "a film that is cut short is an error after its last frame",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"), arguments: ["mkv", "mp4", "webm"])
  func reportsFilmsThatAreCutShort(ending: String) async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i testsrc2=size=320x240:rate=10:duration=4 -g 5 \
          $(test \(ending) = mp4 && echo -movflags +faststart) film.\(ending) && \
        head -c $(($(stat -c %s film.\(ending)) / 2)) film.\(ending) > half.\(ending)
        """, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      let whole = await collect(try VideoSource(folder.appending(path: "film.\(ending)").path))
      #expect(whole.error == nil && whole.frames.count == 40)
      let half = await collect(try VideoSource(folder.appending(path: "half.\(ending)").path))
      #expect((1..<40).contains(half.frames.count))
      let message = half.error?.message ?? ""
      #expect(
        message.contains("half.\(ending)' breaks off after \(half.frames.count) frames: "), "\(message)")
    }
  }

  @Test(
    "what ffmpeg says about a source that breaks off is told from what it says about frames",
    arguments: [
      ("[http @ 0x5] [error] Stream ends prematurely at 5, should be 9", true),
      ("[error] http://camera/film.ts: Connection reset by peer", true),
      ("[in#0/mpegts @ 0x5] [error] Error during demuxing: Input/output error", true),
      ("[h264 @ 0x5] [error] error while decoding MB 16 9, bytestream -38", false),
      ("[error] Error while decoding stream #0:0: Invalid data found when processing input", false),
      ("[warning] http://camera/film.ts: corrupt decoded frame in stream 0", false),
      // Metadata of a film.
      ("[info]     title           : [error] File ended prematurely", false),
      ("[info]     title           : [x @ 0x5] [error] File ended prematurely", false),
      ("[info] Stream #0:0(Error during demuxing): Video: h264", false),
    ])
  func reportsFilmsThatBreakOff(message: String, breaksOff: Bool) async throws {
    let script = "\(Self.header) \(Self.frame) echo '\(message)' >&2; echo '[info] frame= 1' >&2"
    let (frames, error) = await collect(try source(script, as: "http://camera/film.ts"))
    #expect(frames.count == 1 && (error != nil) == breaksOff, "\(String(describing: error))")
    // A live stream is started again instead.
    let live = try source(script, as: "http://camera/film.ts") { $0.isLive = true }
    let numbers = [try live.waitForNext()?.number, try live.waitForNext()?.number]
    #expect(numbers == [0, 1] && live.statistics.restarts > 0)
    live.stop()
  }

  @Test("a stream of which ffmpeg makes no frames stalls with what ffmpeg says of it")
  func namesWhatFFmpegSaysOfAStall() async throws {
    let script = "echo '[h264 @ 0x5] [error] non-existing PPS 0 referenced' >&2; sleep 30"
    let (_, error) = await collect(try source(script, as: "http://camera/film.ts"))
    let words = "no frame for 1.0 seconds; ffmpeg's last error: non-existing PPS 0 referenced"
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(
    "files that are no films are told as such", .enabled(if: hasFFmpeg, "ffmpeg is missing"),
    arguments: [
      ("a.mp4", 3_000, "it is no film that ffmpeg knows, or an MP4 without its index"),
      ("a.mp4", 0, "it is empty"),
      ("a.mjpeg", 3_000, "none of its pictures can be decoded"),
      ("a.ts", 300_000, "its bytes are no film that ffmpeg knows, or damaged"),
    ])
  func namesFilesThatAreNoFilms(name: String, count: Int, words: String) async throws {
    try await withTemporaryFolderAsync { folder in
      var random = SeededGenerator(seed: 3)
      let file = folder.appending(path: name)
      try Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: file)
      var message = ""
      do throws(ApusError) { message = await collect(try VideoSource(file.path)).error?.message ?? "" } catch
      {
        message = error.message
      }
      #expect(message.contains(words), "\(message)")
    }
  }

  @Test("sound is no video, with a cover or without", .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func refusesSound() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i sine=duration=0.2 sound.m4a && \
        ffmpeg -loglevel error -f lavfi -i sine=duration=0.2 -f lavfi -i color=c=red:size=32x32:rate=1:duration=1 \
          -c:v mjpeg -disposition:v attached_pic cover.m4a
        """, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      for name in ["sound.m4a", "cover.m4a"] {
        let (frames, error) = await collect(try VideoSource(folder.appending(path: name).path))
        #expect(frames.isEmpty)
        #expect(error?.message.hasSuffix("\(name)': it has no video") == true, "\(String(describing: error))")
      }
    }
  }

  @Test(.enabled(if: hasFFmpeg, "ffmpeg is missing")) func writesAndReadsFiles() async throws {
    try await withTemporaryFolderAsync { folder in
      let path = folder.appending(path: "a film.mp4").path
      let writer = try VideoWriter(path, width: 65, height: 49, frameRate: 20)
      // Ten times a second into twenty frames a second: each picture is shown from its time on, and so twice.
      for number in 0..<10 {
        let bytes = [UInt8](repeating: UInt8(20 * number), count: 65 * 49)
        try await writer.append(
          ImageBuffer(bytes: bytes, width: 65, height: 49, format: .gray), at: 5 + Double(number) / 10)
      }
      await #expect(throws: ApusError.self) {
        try await writer.append(ImageBuffer(bytes: [0], width: 1, height: 1, format: .gray))
      }
      await #expect(throws: ApusError.self) {
        try await writer.append(
          ImageBuffer(bytes: [UInt8](repeating: 0, count: 65 * 49), width: 65, height: 49, format: .gray),
          at: 5006)
      }
      try await writer.finish()
      let (frames, error) = await collect(try VideoSource(path))
      #expect(error == nil && frames.count == 19)
      for (index, frame) in frames.enumerated() {
        let picture = frame.picture()
        #expect(picture.width == 66 && picture.height == 50)
        let level = Int(try #require(picture.pixel(x: 30, y: 20)).green)
        #expect(abs(level - 20 * (index / 2)) <= 6, "frame \(index): \(level)")
      }
      var options = VideoSource.Options()
      options.size = (32, 32)
      options.loops = 2
      let looped = await collect(try VideoSource(path, options: options))
      #expect(looped.frames.count == 57 && looped.frames.first?.raw.width == 32)
      // A file that is no video, and one that is cut short.
      let text = folder.appending(path: "text.mp4")
      try Data("no film\n".utf8).write(to: text)
      #expect(await collect(try VideoSource(text.path)).error?.message.contains("text.mp4") == true)
    }
  }

  @Test("pictures may be far apart", .enabled(if: hasFFmpeg, "ffmpeg is missing"), arguments: [1.0, 10])
  func writesLongPauses(rate: Double) async throws {
    try await withTemporaryFolderAsync { folder in
      let path = folder.appending(path: "film.mp4").path
      let writer = try VideoWriter(path, width: 16, height: 16, frameRate: rate)
      let picture = try ImageBuffer(
        bytes: [UInt8](repeating: 9, count: 256), width: 16, height: 16, format: .gray)
      for time in [0, 702.0] { try await writer.append(picture, at: time) }
      try await writer.finish()
      let (frames, error) = await collect(try VideoSource(path))
      #expect(error == nil && frames.count == Int(702 * rate) + 1)
      let other = try VideoWriter(path, width: 16, height: 16, frameRate: 1000)
      try await other.append(picture, at: 0)
      let refusal = await #expect(throws: ApusError.self) { try await other.append(picture, at: 1000) }
      #expect(refusal?.message.contains("would repeat the last one 999999 times, more than 600000") == true)
    }
  }

  @Test func writersRefuseImpossibleVideos() async throws {
    #expect(throws: ApusError.self) { try VideoWriter("a.gif", width: 64, height: 64, program: "/bin/true") }
    #expect(throws: ApusError.self) { try VideoWriter("a.mp4", width: 1, height: 64, program: "/bin/true") }
    #expect(throws: ApusError.self) {
      try VideoWriter("a.mp4", width: 64, height: 64, frameRate: .nan, program: "/bin/true")
    }
    // A program that ends at once.
    let writer = try VideoWriter("a.mp4", width: 64, height: 64, program: "/bin/false")
    let picture = try ImageBuffer(
      bytes: [UInt8](repeating: 0, count: 64 * 64), width: 64, height: 64, format: .gray)
    await #expect(throws: ApusError.self) {
      for _ in 0..<20 { try await writer.append(picture) }
      try await writer.finish()
    }
    await #expect(throws: ApusError.self) { try await writer.append(picture) }
  }
}

/// Runs code with a folder that is then removed.
private func withTemporaryFolderAsync(_ body: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder)
}
