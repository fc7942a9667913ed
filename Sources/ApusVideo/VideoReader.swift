// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// Reads frames from ffmpeg, on a thread of its own, and starts it again where a live stream or camera ends.
struct VideoReader: Sendable {
  let location: VideoLocation
  let options: VideoSource.Options
  let isLive: Bool
  let program: String
  let arguments: [String]
  let queue: FrameQueue

  /// Reads until the source ends, fails or is not wanted any more.
  func run() {
    SourceRestarts(
      isLive: isLive && location.comesBack, limit: options.restartLimit, queue: queue,
      noFrames: location.noFrames
    ).run(readOnce)
  }

  private func readOnce(_ progress: inout SourceRestarts.Progress) -> SourceRestarts.End {
    do throws(ApusError) {
      let times = FrameTimes()
      let child = try ChildProcess(program, arguments, pipe: .output) { times.take($0) }
      defer { child.kill() }
      guard let line = try readLine(child, Y4MHeader.maximumLine) else { return ended(child) }
      let header = try named { () throws(ApusError) in try Y4MHeader(line: line) }
      guard header.width * header.height <= options.pixelLimit else {
        throw ApusError(
          .resourceLimit,
          """
          '\(location.name)' announces frames of \(header.width) × \(header.height) pixels, more than the limit of \
          \(options.pixelLimit)
          """)
      }
      queue.setFrameRate(header.frameRate)
      // ffmpeg describes its output before the first frame, but may do so after the header.
      var known: VideoColor?
      while !queue.isEnded {
        guard let line = try readFrameLine(child) else { return ended(child) }
        try named { () throws(ApusError) in try Y4MHeader.checkFrameLine(line) }
        var bytes = [UInt8](repeating: 0, count: header.frameByteCount)
        guard try fill(&bytes, child) else { return .ended(message: nil) }
        let color = known ?? VideoColor(matrix: Self.matrix(child.messageLines()), range: header.range)
        known = color
        let arrival = ContinuousClock.now
        let first = progress.first ?? arrival
        progress.first = first
        child.takeMessages()
        let time =
          isLive
          ? (arrival - first) / .seconds(1)
          : fileTime(of: progress.frames, times.time(ofFrame: progress.frames), after: progress.time, header)
        progress.time = time
        let raw = try RawPicture(
          bytes: bytes, width: header.width, height: header.height, layout: header.layout, color: color)
        queue.put(VideoFrame(number: progress.frames, time: time, arrival: arrival, raw: raw))
        progress.frames += 1
      }
      return .ended(message: nil)
    } catch {
      return .failed(error)
    }
  }

  /// When a frame of a file is shown: as ffmpeg says, or else at the stream's rate, but later than the frame before it.
  private func fileTime(of frame: Int, _ stated: Double?, after last: Double?, _ header: Y4MHeader) -> Double
  {
    let time = options.start + (stated ?? Double(frame) / (header.frameRate ?? 25))
    return last.map { max(time, $0 + 1e-6) } ?? time
  }

  /// The matrix of the frames that ffmpeg hands over, by its description of them, which precedes them:
  /// `Stream #0:0: Video: wrapped_avframe, yuv420p(tv, bt709, progressive), 640x480, …`, where matrix, primaries and transfer are
  /// `bt709/smpte170m/bt709` if they differ. What has none is BT.601, as it is for ffmpeg.
  static func matrix(_ messages: [String]) -> VideoColor.Matrix {
    guard let stream = messages.last(where: { $0.contains("Video: wrapped_avframe, ") }),
      let form = stream.firstRange(of: "420p(")
    else { return .bt601 }
    let names = stream[form.upperBound...].prefix { $0 != ")" }.split(separator: ",").map { word in
      word.drop { $0 == " " }.prefix { $0 != "/" }
    }
    for name in names {
      switch name {
      case "bt709": return .bt709
      // Colors of constant luma cannot be had from it by a matrix; this one is the nearest, and that of ffmpeg.
      case "bt2020nc", "bt2020c": return .bt2020
      case "smpte240m": return .smpte240m
      case "fcc": return .fcc
      case "smpte170m", "bt470bg": return .bt601
      default: continue
      }
    }
    return .bt601
  }

  /// How ffmpeg ended after it closed the pipe.
  private func ended(_ child: ChildProcess) -> SourceRestarts.End {
    if queue.isEnded { return .ended(message: nil) }
    let status = child.waitForEnd(timeout: 2_000)
    // ffmpeg's last line about that is advice for its own users.
    let hasNoVideo = child.messageLines().contains { $0.contains("matches no streams") }
    let message = hasNoVideo ? "it has no video" : child.lastMessage()
    guard status == 0 else {
      return .failed(location.failure(message ?? (status.map { "status \($0)" } ?? "it was killed")))
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
    switch child.read(into: &bytes, timeout: Int(options.stallLimit * 1_000), isWanted: { !queue.isEnded }) {
    case .done: return true
    case .stalled:
      throw ApusError(
        .unreadableFile, "'\(location.name)' has stalled: no byte for \(options.stallLimit) seconds")
    case .ended(let count):
      if queue.isEnded || endsFirst && count == 0 { return false }
      let message = child.waitForEnd(timeout: 2_000) == 0 ? nil : child.lastMessage()
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
