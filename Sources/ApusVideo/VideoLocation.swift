// SPDX-License-Identifier: Apache-2.0
import Apus

/// The source that a name stands for, and ffmpeg's arguments for it.
package struct VideoLocation: Hashable, Sendable {
  /// The kinds of sources.
  enum Kind: Hashable, Sendable {
    case file, stream, device, pattern
  }

  /// The name as it was given, except for the secrets of a URL, for errors and logs.
  var name: String { address.text }
  /// The name as it was given: for a file or device, its path.
  var path: String { address.name }
  private let address: MaskedAddress
  let kind: Kind
  /// Whether the newest frame counts, unless the options say otherwise.
  package let isLive: Bool
  /// Whether there may be frames again after the end: a stream or a device, not a file or a test pattern.
  var comesBack: Bool { kind == .stream || kind == .device }
  /// Whether it can be read no faster than it is played: a file or a test pattern. Others come as fast as they are sent.
  package var isPaced: Bool { kind == .file || kind == .pattern }
  /// The protocols that ffmpeg may use.
  private let protocols: String
  /// The options before ffmpeg's input, and the input.
  private let input: [String]
  /// The name that ffmpeg has for the source.
  var inputName: String { input[input.count - 1] }

  /// The forms of files that ffmpeg may read, by its names: films, streams and pictures. Lists of other files, such as playlists, are not among
  /// them: a stranger's file would open others, whatever its name.
  private static let fileFormats = [
    "3dostr", "apng", "asf", "asf_o", "av1", "avi", "avs2", "avs3", "cavsvideo", "dirac", "dnxhd", "dv",
    "flv", "gif", "gxf", "h261", "h263",
    "h264", "hevc", "image2", "ingenient", "ivf", "jpeg_pipe", "kux", "live_flv", "lvf", "m4v", "matroska",
    "mjpeg", "mjpeg_2000", "mlv", "mov", "mp4",
    "mpeg", "mpegts", "mpegtsraw", "mpegvideo", "mpjpeg", "mvi", "mxf", "mxg", "nsv", "nut", "nuv", "obu",
    "ogg", "png_pipe", "pva", "rm", "roq", "smjpeg",
    "swf", "ty", "vc1", "vc1test", "vvc", "webm", "webp_pipe", "wtv", "xmv", "yop", "yuv4mpegpipe",
  ]

  /// The patterns of `test:`, and ffmpeg's sources for them; all have 640 × 480 pixels and 30 frames a second unless the name says more.
  private static let patterns = [
    "testsrc", "testsrc2", "smptebars", "rgbtestsrc", "mandelbrot", "life", "color",
  ]

  /// Reads a name: a path, a URL, a device such as `/dev/video0`, or `test:PATTERN`, `test:PATTERN:WIDTHxHEIGHT`,
  /// `test:PATTERN:WIDTHxHEIGHT:SECONDS`.
  ///
  /// - Throws: `invalidArgument` for a scheme or pattern that is not known, and for standard input.
  package init(_ name: String) throws(ApusError) {
    address = MaskedAddress(name)
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw ApusError(.invalidArgument, "the name of a video is empty, or has a zero byte")
    }
    guard !["-", "/dev/stdin", "/dev/fd/0"].contains(name) else {
      throw ApusError(
        .invalidArgument,
        "'\(name)' is standard input, which is no source of video: name a file, or a pipe made with mkfifo")
    }
    if name.hasPrefix("test:") {
      (kind, isLive, protocols) = (.pattern, false, "file")
      input = ["-f", "lavfi", "-i", try Self.pattern(String(name.dropFirst(5)))]
      return
    }
    if name.hasPrefix("/dev/video") || name.hasPrefix("/dev/v4l/") {
      (kind, isLive, protocols) = (.device, true, "file")
      input = ["-f", "v4l2", "-i", name]
      return
    }
    guard let scheme = Self.scheme(of: name) else {
      // With its protocol, no name of a file is taken for an option or another protocol.
      (kind, isLive, protocols) = (.file, false, "file")
      let forms = ["-format_whitelist", Self.fileFormats.joined(separator: ",")]
      input = forms + Self.pattern(ofPicture: name) + ["-i", "file:\(name)"]
      return
    }
    // Schemes may be written in capitals (RFC 3986, section 3.1), but ffmpeg knows them in lower case alone.
    let url = scheme + name.dropFirst(scheme.count)
    switch scheme {
    case "rtsp":
      (kind, isLive, protocols) = (.stream, true, "rtsp,rtp,udp,tcp")
      input = ["-rtsp_transport", "tcp", "-i", url]
    case "rtsps":
      (kind, isLive, protocols) = (.stream, true, "rtsps,rtsp,rtp,udp,tcp,tls,crypto")
      input = ["-rtsp_transport", "tcp", "-i", url]
    case "http":
      (kind, isLive, protocols) = (.stream, false, "http,tcp")
      input = ["-i", url]
    case "https":
      (kind, isLive, protocols) = (.stream, false, "https,http,httpproxy,tls,tcp,crypto")
      input = ["-i", url]
    case "rtmp", "udp", "srt", "tcp", "rtp":
      (kind, isLive) = (.stream, true)
      protocols = ["rtmp": "rtmp,tcp", "rtp": "rtp,udp"][scheme] ?? scheme
      input = ["-i", url]
    case "file":
      throw ApusError(
        .invalidArgument,
        "'\(address.text.prefix(200))' is the URL of a file: name the file, \(Self.path(ofFileURL: name).prefix(200))"
      )
    default:
      throw ApusError(
        .invalidArgument,
        """
        '\(address.text.prefix(200))' has the scheme '\(scheme)', not rtsp, rtsps, http, https, rtmp, rtp, srt, tcp or udp; a file \
        of that name is ./\(address.text.prefix(60))
        """)
    }
  }

  /// The options with which `%` in the name of a picture stands for itself, and not for the numbers of other pictures.
  private static func pattern(ofPicture name: String) -> [String] {
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    guard name.contains("%"), ["bmp", "jpeg", "jpg", "pgm", "png", "pnm", "ppm", "webp"].contains(ending)
    else {
      return []
    }
    return ["-f", "image2", "-pattern_type", "none"]
  }

  /// A text of ffmpeg without the secrets of URLs, which it repeats.
  func masked(_ text: String) -> String { address.masked(text) }

  /// The scheme of a URL, in lower case; nil for paths.
  private static func scheme(of name: String) -> String? {
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")), name[colon...].hasPrefix("://") else {
      return nil
    }
    let scheme = name[..<colon]
    guard !scheme.isEmpty,
      scheme.utf8.allSatisfy({ $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || $0 >= 0x30 && $0 <= 0x39 })
    else { return nil }
    return scheme.lowercased()
  }

  private static func pattern(_ text: String) throws(ApusError) -> String {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var size = (640, 480)
    var seconds: Double?
    var isKnown = patterns.contains(String(parts[0])) && parts.count <= 3
    if parts.count > 1 {
      let sides = parts[1].split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      isKnown = isKnown && sides.count == 2 && sides.allSatisfy { (16...8192).contains($0) }
      if isKnown { size = (sides[0], sides[1]) }
    }
    if parts.count > 2 {
      seconds = Double(parts[2])
      isKnown = isKnown && seconds.map { $0 > 0 && $0 <= 1e6 } ?? false
    }
    guard isKnown else {
      throw ApusError(
        .invalidArgument,
        """
        'test:\(text.prefix(60))' is not test:PATTERN, test:PATTERN:WIDTHxHEIGHT or test:PATTERN:WIDTHxHEIGHT:SECONDS with one of \
        \(patterns.joined(separator: ", "))
        """)
    }
    let duration = seconds.map { ":duration=\($0)" } ?? ""
    switch parts[0] {
    case "color": return "color=c=gray:size=\(size.0)x\(size.1):rate=30\(duration)"
    case "mandelbrot", "life":
      // These have no duration of their own.
      let trim = seconds.map { ",trim=duration=\($0)" } ?? ""
      return "\(parts[0])=size=\(size.0)x\(size.1):rate=30\(trim)"
    default: return "\(parts[0])=size=\(size.0)x\(size.1):rate=30\(duration)"
    }
  }

  /// ffmpeg's arguments: a fixed list, in which only the input, the size and numbers vary.
  package func arguments(_ options: VideoSource.Options) -> [String] {
    var list = [
      "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info", "-protocol_whitelist", protocols,
    ]
    // A frame beyond the limit is refused before it is decoded. Decoders work on whole blocks, so that it is a little more.
    if kind == .file || kind == .stream {
      list += ["-max_pixels", "\(options.pixelLimit + options.pixelLimit / 8)"]
    }
    if options.isRealTime, isPaced { list.append("-re") }
    if options.start > 0 { list += ["-ss", "\(options.start)"] }
    if options.loops != 0, kind == .file { list += ["-stream_loop", "\(options.loops ?? -1)"] }
    // Of moving pictures, not of covers and thumbnails.
    list += input + ["-map", "0:V:0", "-an", "-sn", "-dn"]
    // Frames stay as they are decoded, whatever their matrix and range, if they have 4:2:0 of eight bits.
    let scale = options.size.map { "scale=\($0.width):\($0.height)," } ?? ""
    // `showinfo` says when each frame is shown, its size and its colors.
    list += ["-vf", scale + "format=pix_fmts=yuv420p|yuvj420p,showinfo=checksum=0"]
    return list + [FFmpeg.frameRateOption, "passthrough", "-f", "yuv4mpegpipe", "pipe:1"]
  }
}
