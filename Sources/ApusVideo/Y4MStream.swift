// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

/// The header of a stream of YUV4MPEG2, the form in which ffmpeg hands over frames: a line, then for each frame a line and its planes.
///
/// The program that writes it is not trusted: sizes are checked, and lines are short.
struct Y4MHeader: Hashable, Sendable {
  /// The maximum length of a line.
  static let maximumLine = 1024

  let width: Int
  let height: Int
  /// Frames per second; nil where the stream does not say, or says more than 240.
  let frameRate: Double?
  /// Frames per second above 240, to 1000, which may also be the ticks of the stream's clock: frames tell by their times.
  let doubtfulRate: Double?
  let pixelAspect: PixelAspect
  let layout: RawPicture.Layout
  let range: VideoColor.Range

  /// Reads the first line, without its line feed.
  ///
  /// - Throws: `malformedImage` for what is no such header, `unsupportedImage` for another chroma than 4:2:0 of eight bits or gray,
  ///   `resourceLimit` for a picture beyond the limits of `ImageBuffer`.
  init(line: [UInt8]) throws(ApusError) {
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard words.first == "YUV4MPEG2" else {
      throw ApusError(
        .malformedImage,
        "the stream begins with '\(words.first.map { String($0.prefix(20)) } ?? "")', not with YUV4MPEG2")
    }
    var (width, height) = (0, 0)
    var rate: Double?
    var aspect: PixelAspect?
    var chroma = "420"
    var range = VideoColor.Range.limited
    for word in words.dropFirst() {
      let value = word.dropFirst()
      switch word.first {
      case "W": width = Int(value) ?? 0
      case "H": height = Int(value) ?? 0
      case "F":
        let parts = value.split(separator: ":").compactMap { Double($0) }
        // Where frames are unequally far apart, a stream may announce its clock's ticks.
        if parts.count == 2, parts[0] > 0, parts[1] > 0 { rate = parts[0] / parts[1] }
      case "A": aspect = PixelAspect(value)
      case "C": chroma = String(value.prefix(20))
      case "X" where value == "COLORRANGE=FULL": range = .full
      default: break
      }
    }
    try ImageBuffer.check(width: width, height: height)
    self.width = width
    self.height = height
    self.range = range
    frameRate = rate.flatMap { $0 <= 240 ? $0 : nil }
    doubtfulRate = rate.flatMap { $0 > 240 && $0 <= 1000 ? $0 : nil }
    pixelAspect = aspect ?? .square
    switch chroma {
    case "420", "420jpeg", "420mpeg2", "420paldv": layout = .i420
    case "mono": layout = .gray8
    default:
      throw ApusError(
        .unsupportedImage, "the stream has the chroma '\(chroma)', not 4:2:0 of eight bits or none")
    }
  }

  /// The number of bytes of a frame's planes.
  var frameByteCount: Int {
    let chroma = layout == .i420 ? 2 * ((width + 1) / 2) * ((height + 1) / 2) : 0
    return width * height + chroma
  }

  /// Checks the line before a frame, without its line feed.
  static func checkFrameLine(_ line: [UInt8]) throws(ApusError) {
    guard line.starts(with: Array("FRAME".utf8)), line.count == 5 || line[5] == UInt8(ascii: " ") else {
      throw ApusError(
        .malformedImage,
        "a frame begins with '\(String(decoding: line.prefix(20), as: UTF8.self))', not with FRAME"
      )
    }
  }
}
