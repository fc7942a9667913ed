// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import Foundation
import TestSupport
import Testing

/// Films that ffmpeg makes and reads: colors, times, files that are cut short or no films, and films that are written.
extension VideoSourceTests {
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

  @Test(
    "a cancelled task adds no picture to a film, and completes it",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func completesFilmsOfCancelledTasks() async throws {
    try await withTemporaryFolderAsync { folder in
      let path = folder.appending(path: "film.mp4").path(percentEncoded: false)
      let writer = try VideoWriter(path, width: 16, height: 16)
      let picture = try ImageBuffer(
        bytes: [UInt8](repeating: 9, count: 256), width: 16, height: 16, format: .gray)
      let task = Task {
        try await writer.append(picture)
        withUnsafeCurrentTask { $0?.cancel() }
        await #expect(throws: CancellationError.self) { try await writer.append(picture) }
        try await writer.finish()
      }
      try await task.value
      #expect(await collect(try VideoSource(path)).frames.count == 1)
    }
  }

  @Test(
    "a film that does not fit on its disk is an error", .enabled(if: hasFFmpeg, "ffmpeg is missing"),
    arguments: ["mkv", "mp4", "mov", "avi"])
  func reportsAFullDisk(ending: String) async throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    try await withTemporaryFolderAsync { folder in
      let path = folder.appending(path: "film.\(ending)").path(percentEncoded: false)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
      let writer = try VideoWriter(path, width: 16, height: 16)
      let picture = try ImageBuffer(
        bytes: [UInt8](repeating: 9, count: 256), width: 16, height: 16, format: .gray)
      let error = await #expect(throws: ApusError.self) {
        for _ in 0..<10 { try await writer.append(picture) }
        try await writer.finish()
      }
      #expect(error?.code == .unwritableFile && error?.message.contains("film.\(ending)") == true)
    }
  }

  @Test(
    "a film that is written begins at 0, and goes on at its rate",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"), arguments: ["mkv", "mp4", "mov", "avi"])
  func beginsFilmsAtZero(ending: String) async throws {
    try await withTemporaryFolderAsync { folder in
      let path = folder.appending(path: "film.\(ending)").path(percentEncoded: false)
      let writer = try VideoWriter(path, width: 64, height: 64, frameRate: 10)
      for number in 0..<12 {
        // A square that moves: encoders take frames of other kinds than for pictures that stay.
        let bytes = (0..<64 * 64).map { UInt8(($0 % 64 / 8 == number % 8) ? 250 : $0 / 64) }
        try await writer.append(
          ImageBuffer(bytes: bytes, width: 64, height: 64, format: .gray), at: Double(number) / 10)
      }
      // The second picture for a frame is not in the film.
      try await writer.append(
        ImageBuffer(
          bytes: [UInt8](repeating: 0, count: 64 * 64), width: 64, height: 64, format: .gray), at: 1.11)
      try await writer.finish()
      #expect(writer.leftOut == 1)
      let (frames, error) = await collect(try VideoSource(path))
      #expect(error == nil && frames.count == 12)
      for (number, frame) in frames.enumerated() {
        #expect(abs(frame.time - Double(number) / 10) < 0.002, "\(frame.time)")
      }
    }
  }

  @Test(
    "what is missing at the end of films without an index is counted as damaged",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"), arguments: ["avi", "flv", "ts", "nut"])
  func countsDamageOfFilmsThatAreCutShort(ending: String) async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i testsrc2=size=320x240:rate=10:duration=2 -g 1 film.\(ending) && \
        head -c $(($(stat -c %s film.\(ending)) * 6 / 10)) film.\(ending) > half.\(ending)
        """, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      let whole = try VideoSource(folder.appending(path: "film.\(ending)").path(percentEncoded: false))
      #expect(await collect(whole).error == nil && whole.statistics.damaged == 0)
      let half = try VideoSource(folder.appending(path: "half.\(ending)").path(percentEncoded: false))
      let (frames, error) = await collect(half)
      #expect(error == nil && (1..<20).contains(frames.count) && half.statistics.damaged >= 1)
    }
  }

  @Test("films of MPEG-TS that were joined are whole", .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func takesJoinedFilmsForWhole() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i testsrc2=size=320x240:rate=10:duration=1 film.ts && cat film.ts film.ts > joined.ts && \
        ffmpeg -nostdin -i joined.ts -f null - 2>&1 | grep -q 'corrupt input packet'
        """, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      let joined = try VideoSource(folder.appending(path: "joined.ts").path(percentEncoded: false))
      let (frames, error) = await collect(joined)
      #expect(error == nil && frames.count >= 19 && joined.statistics.damaged == 0)
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
