// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import Foundation
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
    options.stallLimit = 1
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
    // The end behind the third frame may be counted already.
    #expect(numbers == [0, 1, 2] && [2, 3].contains(live.statistics.restarts))
    live.stop()
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
    let endless = try source("sleep 30") { $0.stallLimit = 60 }
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
          at: 5000)
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
