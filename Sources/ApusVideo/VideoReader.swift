// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Reads frames from ffmpeg, on a thread of its own, and starts it again where a live stream ends.
struct VideoReader: Sendable {
  let location: VideoLocation
  let options: VideoSource.Options
  let program: String
  let arguments: [String]
  let queue: FrameQueue

  /// Reads until the source ends, fails or is not wanted any more.
  func run() {
    SourceRestarts(
      comesBack: { queue.keepsNewest && location.comesBack }, limit: options.restartLimit, queue: queue,
      noFrames: location.noFrames
    ).run(readOnce)
  }

  private func readOnce(_ progress: inout SourceRestarts.Progress) -> SourceRestarts.End {
    read(&progress, arguments) ?? read(&progress, FFmpeg.argumentsBefore51(arguments))
      ?? .ended(message: nil)
  }

  /// Reads until ffmpeg ends, or nothing more is wanted; nil if ffmpeg is older than an option that has another name there.
  private func read(_ progress: inout SourceRestarts.Progress, _ arguments: [String]) -> SourceRestarts.End? {
    do throws(ApusError) {
      let descriptions = FrameDescriptions()
      let damage = FrameDamage(ofFile: location.kind == .file) { queue.countDamage($0, count: $1) }
      let start = ContinuousClock.now
      let child = try ChildProcess(program, arguments, pipe: .output) { line in
        if descriptions.take(line) {
          damage.noteFrame()
          return true
        }
        damage.take(line)
        return false
      }
      defer { child.kill() }
      guard let line = try readLine(child, Y4MHeader.maximumLine) else {
        return isBefore51(child, arguments) ? nil : ended(child)
      }
      let header = try named { () throws(ApusError) in try Y4MHeader(line: line) }
      guard header.width * header.height <= options.pixelLimit else {
        throw ApusError(
          .resourceLimit,
          """
          '\(location.name)' announces frames of \(header.width) × \(header.height) pixels, more than the limit of \
          \(options.pixelLimit)
          """)
      }
      queue.announce(header)
      let first = progress.frames
      var clock = FileClock(start: options.start, frameRate: header.frameRate)
      /// A frame of a file whose time is decided by that of the next one.
      var held: (frame: VideoFrame, stated: Double?)?
      /// A rate that may be that of a clock's ticks, until the second frame of a file decides.
      var doubtfulRate = queue.keepsNewest ? nil : header.doubtfulRate
      func release(next: Double?) {
        guard let (frame, stated) = held else { return }
        held = nil
        if let rate = doubtfulRate, let stated, let next, abs((next - stated) * rate - 1) < 0.25 {
          queue.announce(header, frameRate: rate)
        }
        doubtfulRate = nil
        let time = clock.time(ofFrame: frame.number, stated: stated, next: next)
        queue.put(VideoFrame(number: frame.number, time: time, arrival: frame.arrival, raw: frame.raw))
      }
      defer { release(next: nil) }
      // ffmpeg gathers the frames of some seconds before it hands over the first one, and then all at once: the last one is the newest.
      let rate = header.frameRate ?? 30
      var gathered: Int? = 0
      while !queue.isEnded {
        guard let line = try readFrameLine(child) else { return ended(child, after: progress.delivered) }
        try named { () throws(ApusError) in try Y4MHeader.checkFrameLine(line) }
        var bytes = [UInt8](repeating: 0, count: header.frameByteCount)
        guard try fill(&bytes, child) else { return .ended(message: nil) }
        if progress.frames == first, options.isLive == nil, location.kind == .stream,
          Self.isMotionJPEG(child.messageLines())
        {
          queue.keepNewest()
        }
        let arrival = ContinuousClock.now
        if queue.keepsNewest, location.comesBack, let count = gathered {
          // A live stream cannot have sent more of them than the time allows.
          if Double(count) < (arrival - start) / .seconds(1) * rate,
            child.hasMore(within: min(0.5 / rate, 0.02))
          {
            queue.count(older: 1, damaged: 0)
            gathered = count + 1
            progress.frames += 1
            continue
          }
          gathered = nil
        }
        child.takeMessages()
        let described = descriptions.description(ofFrame: progress.frames - first)
        try check(described?.size, header, frame: progress.frames)
        let color = VideoColor(matrix: described?.matrix ?? .bt601, range: described?.range ?? header.range)
        let raw = try RawPicture(
          bytes: bytes, width: header.width, height: header.height, layout: header.layout, color: color)
        release(next: described?.time)
        if queue.keepsNewest {
          let time = progress.time(ofArrival: arrival)
          queue.put(VideoFrame(number: progress.frames, time: time, arrival: arrival, raw: raw))
        } else {
          held = (VideoFrame(number: progress.frames, time: 0, arrival: arrival, raw: raw), described?.time)
          if !clock.isJump(described?.time), doubtfulRate == nil { release(next: nil) }
        }
        progress.frames += 1
        progress.delivered += 1
      }
      return .ended(message: nil)
    } catch {
      return .failed(error)
    }
  }

  /// Refuses a frame that ffmpeg has squeezed into the size of the first one.
  private func check(_ size: FrameDescription.ImageSize?, _ header: Y4MHeader, frame: Int) throws(ApusError) {
    guard let size, size.width != header.width || size.height != header.height else { return }
    throw ApusError(
      .unsupportedImage,
      """
      '\(location.name)': frame \(frame) has \(size.width) × \(size.height) pixels, and those before it \
      \(header.width) × \(header.height); with a size that is asked for, all frames are scaled to it
      """)
  }

  /// Whether ffmpeg reads pictures that a server sends one after the other, by its description of the input, which precedes the first frame:
  /// `Input #0, mpjpeg, from 'http://camera/stream':`. They have no times, and ffmpeg gives them 25 a second, whatever the camera's rate.
  static func isMotionJPEG(_ messages: [String]) -> Bool {
    // Metadata of a film, which ffmpeg repeats, begin further to the right.
    messages.contains { $0.hasPrefix("[info] Input #0, mpjpeg, from ") }
  }

  /// Why ffmpeg could read no more of a source that has not ended, by its messages; nil if it has. ffmpeg ends with status 0 all the same:
  ///
  /// ```text
  /// [matroska,webm @ 0x5638535c3c40] [error] File ended prematurely
  /// [mov,mp4,m4a,3gp,3g2,mj2 @ 0x55fd0c4e0c40] [error] stream 0, offset 0x6fb7: partial file
  /// [http @ 0x55f421825440] [error] Stream ends prematurely at 33652, should be 67304
  /// [error] http://camera/film.ts: Connection reset by peer
  /// [in#0/mpegts @ 0x55f421825440] [error] Error during demuxing: Input/output error
  /// ```
  ///
  /// - Parameter name: The name that ffmpeg has for the source.
  static func interruption(_ messages: [String], of name: String) -> String? {
    for message in messages.reversed() {
      guard let text = FFmpeg.text(of: message[...], levels: ["error"]) else { continue }
      if message.hasPrefix("[error] \(name): ") {
        return String(message.dropFirst("[error] \(name): ".count))
      }
      let signs = [
        "File ended prematurely", "Stream ends prematurely", ": partial file", "Error during demuxing",
      ]
      if signs.contains(where: { text.contains($0) }) { return String(text) }
    }
    return nil
  }

  /// The cause in ffmpeg's messages where the last one says something else, such as advice for its own users;
  /// nil if there is no known one.
  ///
  /// - Parameter frames: How many frames came before.
  private func reason(_ messages: [String], after frames: Int) -> String? {
    let complaints = messages.compactMap { FFmpeg.text(of: $0[...], levels: ["warning", "error", "fatal"]) }
    func first(_ text: String) -> Substring? { complaints.first { $0.contains(text) } }
    func says(_ text: String) -> Bool { first(text) != nil }
    if says("Unrecognized option '") {
      return "the program \(program) is too old; \(FFmpeg.minimumVersion) or newer is needed"
    }
    if says("matches no streams") { return "it has no video" }
    if says("Format not on whitelist") {
      return
        "it has none of the forms of films that are read; lists of other files, such as playlists, are not"
    }
    if let line = first("' not on whitelist '"), let quote = line.firstRange(of: "Protocol '") {
      let scheme = line[quote.upperBound...].prefix { $0 != "'" }
      return "it leads to an address of another protocol, \(scheme): name that address itself"
    }
    if says("exceeds specified max pixel count") {
      return "its frames have more pixels than the limit of \(options.pixelLimit)"
    }
    // Of a film that was read in part, these say what is wrong with one of its pictures.
    guard frames == 0 else { return nil }
    if let line = first("Failed to resolve hostname") { return String(line) }
    if says("Protocol not found") { return "the program \(program) was built without this protocol" }
    // The last message is about the memory that such a picture would need, as of a device that is busy.
    if let line = first("Picture size "), line.contains(" is invalid") {
      return "its header is damaged: \(line)"
    }
    if says("'pixel_aspect' out of range") {
      return "its header is damaged: the ratio of its pixels' sides is impossible"
    }
    if says("moov atom not found") {
      return
        "it is no film that ffmpeg knows, or an MP4 without its index (moov), as of a recording that was not finished"
    }
    if says("Cannot determine format of input stream") {
      return "none of its pictures can be decoded: it is damaged, or no film"
    }
    return says("\(location.inputName): Invalid data found when processing input")
      ? "its bytes are no film that ffmpeg knows, or damaged" : nil
  }

  /// Whether ffmpeg, which has closed the pipe, is older than the name of an option.
  private func isBefore51(_ child: ChildProcess, _ arguments: [String]) -> Bool {
    guard arguments != FFmpeg.argumentsBefore51(arguments), !queue.isEnded else { return false }
    _ = child.waitForEnd(timeout: 2_000)
    return child.messageLines().contains {
      $0.contains("Unrecognized option '\(FFmpeg.frameRateOption.dropFirst())'")
    }
  }

  /// How ffmpeg ended after it closed the pipe.
  private func ended(_ child: ChildProcess, after frames: Int = 0) -> SourceRestarts.End {
    if queue.isEnded { return .ended(message: nil) }
    let status = child.waitForEnd(timeout: 2_000)
    let reason = reason(child.messageLines(), after: frames)
    guard status == 0 else { return .failed(location.failure(child.failure(reason, status: status))) }
    let message = reason ?? child.lastMessage(limit: 4_096)
    // A live stream is started again, however it ended.
    if frames > 0, !(queue.keepsNewest && location.comesBack),
      let reason = Self.interruption(child.messageLines(), of: location.inputName)
    {
      return .failed(
        ApusError(
          .unreadableFile,
          "'\(location.name)' breaks off after \(frames) frames: \(location.masked(reason).prefix(200))"))
    }
    return .ended(message: message)
  }

  /// The line before a frame; nil where the stream ends instead.
  private func readFrameLine(_ child: ChildProcess) throws(ApusError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 6)
    guard try fill(&bytes, child, endsFirst: true) else { return nil }
    if bytes[5] == UInt8(ascii: "\n") { return Array(bytes[..<5]) }
    guard let rest = try readLine(child, Y4MHeader.maximumLine) else { return nil }
    return bytes + rest
  }

  /// A line without its line feed; nil where the stream ends before it begins.
  private func readLine(_ child: ChildProcess, _ limit: Int) throws(ApusError) -> [UInt8]? {
    var line: [UInt8] = []
    var byte: [UInt8] = [0]
    while line.count < limit {
      guard try fill(&byte, child, endsFirst: line.isEmpty) else { return nil }
      if byte[0] == UInt8(ascii: "\n") { return line }
      line.append(byte[0])
    }
    throw ApusError(
      .malformedImage, "'\(location.name)': a line of the stream is longer than \(limit) bytes")
  }

  /// Fills the bytes; false where the frames are not wanted any more, or the stream ends before the first byte.
  private func fill(_ bytes: inout [UInt8], _ child: ChildProcess, endsFirst: Bool = false) throws(ApusError)
    -> Bool
  {
    // ffmpeg itself waits where the pictures of a film are far apart and it is read as it is played.
    let limit = options.isRealTime && location.isPaced ? .seconds(86_400) : options.stallLimit
    switch child.read(into: &bytes, timeout: Int(limit / .milliseconds(1)), isWanted: { !queue.isEnded }) {
    case .done: return true
    case .stalled:
      // ffmpeg may get bytes all the time, and make no frame of them.
      let complaint = child.messageLines().compactMap {
        FFmpeg.text(of: $0[...], levels: ["error", "fatal"])
      }
      .last
      throw ApusError(
        .unreadableFile,
        """
        '\(location.name)' has stalled: no frame for \(limit)\
        \(complaint.map { "; ffmpeg's last error: \(location.masked(String($0)).prefix(200))" } ?? "")
        """)
    case .ended(let count):
      if queue.isEnded || endsFirst && count == 0 { return false }
      let status = child.waitForEnd(timeout: 2_000)
      let message = status == 0 ? nil : location.masked(child.failure(status: status)).prefix(200)
      throw ApusError(
        .unreadableFile,
        """
        '\(location.name)' ends in the middle of a frame, after \(count) of \(bytes.count) bytes\
        \(message.map { ": \($0)" } ?? "")
        """)
    }
  }

  private func named<R>(_ body: () throws(ApusError) -> R) throws(ApusError) -> R {
    do throws(ApusError) { return try body() } catch {
      throw ApusError(error.code, "'\(location.name)': \(error.message)")
    }
  }
}
