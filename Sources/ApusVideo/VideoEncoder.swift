// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An ffmpeg process that encodes pictures, and which frame comes next. Started with the first picture, by the thread that feeds it.
struct VideoEncoder: Sendable {
  let path: String
  let width: Int
  let height: Int
  let frameRate: Double
  let pixelAspect: PixelAspect
  let program: String

  private var child: ChildProcess?
  private var isFinished = false
  private var firstTime: Double?
  private var written = 0
  private var last: [UInt8] = []
  /// The pictures that are not in the file: another one has their frame.
  private(set) var leftOut = 0

  init(
    path: String, width: Int, height: Int, frameRate: Double, pixelAspect: PixelAspect, program: String
  ) {
    (self.path, self.width, self.height) = (path, width, height)
    (self.frameRate, self.pixelAspect, self.program) = (frameRate, pixelAspect, program)
  }

  mutating func append(_ picture: ImageBuffer, at time: Double?) throws(ApusError) {
    guard !isFinished else { throw unwritable("it is complete") }
    guard picture.uprightWidth == width, picture.uprightHeight == height else {
      throw ApusError(
        .invalidArgument,
        """
        a picture of \(picture.uprightWidth) × \(picture.uprightHeight) pixels does not belong into the video '\(path)' of \
        \(width) × \(height)
        """)
    }
    guard time?.isFinite ?? true, abs(time ?? 0) <= 1e9 else {
      throw ApusError(
        .invalidArgument, "a picture's time is \(time ?? 0), not a number of seconds within ±1e9")
    }
    let position = time.map { Int((($0 - (firstTime ?? $0)) * frameRate).rounded()) } ?? written
    let repeats = position - written
    let maximum = max(Int(VideoWriter.maximumGap * frameRate), VideoWriter.maximumRepeats)
    guard repeats <= maximum else {
      throw ApusError(
        .invalidArgument,
        """
        a picture's time is \(time ?? 0): at \(frameRate) frames per second, the video '\(path)' would repeat the last one \(repeats) \
        times, more than \(maximum)
        """)
    }
    if firstTime == nil { firstTime = time ?? 0 }
    let bytes = picture.oriented().converted(to: .rgb).bytes
    while written < position { try write(last) }
    if position == written { try write(bytes) } else { leftOut += 1 }
    last = bytes
  }

  private mutating func write(_ bytes: [UInt8]) throws(ApusError) {
    if child == nil { child = try start() }
    guard let child else { return }
    switch child.write(bytes, timeout: 60_000) {
    case .done: written += 1
    case .stalled:
      child.kill()
      throw unwritable("ffmpeg takes no data for 60 seconds")
    case .ended:
      throw unwritable(child.failure(status: child.waitForEnd(timeout: 2_000)))
    }
  }

  mutating func finish() throws(ApusError) {
    guard !isFinished else { return }
    isFinished = true
    guard let child else { throw unwritable("there was no picture") }
    self.child = nil
    child.closePipe()
    let status = child.waitForEnd(timeout: 120_000)
    guard status == 0 else { throw unwritable(child.failure(status: status)) }
    if let problem = Self.loss(child.messageLines()) { throw unwritable(problem) }
    guard !FFmpeg.isEmptyFile(path) else { throw unwritable("ffmpeg has written nothing to it") }
  }

  /// How ffmpeg says that it could not write all of a file; nil if it could. Version 5 ends with status 0 all the same:
  ///
  /// ```text
  /// av_interleaved_write_frame(): No space left on device
  /// Error writing trailer of file:film.mkv: No space left on device
  /// Error closing file file:film.mkv: No space left on device
  /// ```
  static func loss(_ messages: [String]) -> String? {
    let signs = [
      "av_interleaved_write_frame()", "Error writing ", "Error closing file", "Error muxing",
      "Error submitting a packet to the muxer", systemReason(ENOSPC), systemReason(EDQUOT),
      systemReason(EFBIG), systemReason(EIO),
    ]
    return messages.first { message in signs.contains { message.contains($0) } }
  }

  private func start() throws(ApusError) -> ChildProcess {
    var codec = try hasH264() ? ["-c:v", "libx264", "-preset", "veryfast"] : ["-c:v", "mpeg4", "-q:v", "4"]
    // AVI has no times at which frames are shown: those that are coded out of order would come late.
    if path.lowercased().hasSuffix(".avi") { codec += ["-bf", "0"] }
    return try ChildProcess(
      program,
      [
        "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-f", "rawvideo",
        "-pix_fmt", "rgb24",
        "-video_size", "\(width)x\(height)", "-framerate", "\(frameRate)", "-i", "pipe:0", "-an",
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,setsar=\(pixelAspect.width)/\(pixelAspect.height)",
        // The matrix that ffmpeg takes for colors: without a word about it, players take that of a high definition for BT.709.
      ] + codec + [
        "-pix_fmt", "yuv420p", "-colorspace", "smpte170m", "-color_range", "tv", "-y", "file:\(path)",
      ], pipe: .input)
  }

  /// Whether ffmpeg has an encoder for H.264.
  private func hasH264() throws(ApusError) -> Bool {
    let child = try ChildProcess(program, ["-hide_banner", "-loglevel", "error", "-encoders"], pipe: .output)
    var text = [UInt8](repeating: 0, count: 1 << 18)
    guard case .ended(let count) = child.read(into: &text, timeout: 10_000, isWanted: { true }) else {
      return false
    }
    return String(decoding: text[..<count], as: UTF8.self).contains(" libx264 ")
  }

  private func unwritable(_ reason: String) -> ApusError {
    ApusError(.unwritableFile, "cannot write the video '\(path)': \(reason.prefix(200))")
  }
}
