// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

/// A form of a camera's frames that is read, by its four letters, and how it becomes a picture.
package struct CameraFormat: Hashable, Sendable {
  /// How bytes lie.
  enum Form: Hashable, Sendable {
    /// As in a picture's layout.
    case layout(RawPicture.Layout)
    /// A plane of luma, then one of U and V for each pixel; V first, or not.
    case semiplanar444(isVFirst: Bool)
    /// Red, green and blue at these places of a pixel's bytes, or luma, U and V.
    case bytes([Int], count: Int = 4, hasLuma: Bool = false)
    /// Red, green and blue as these bits of a word, where 0 is the lowest, or luma, U and V.
    case bits([ClosedRange<Int>], byteCount: Int = 2, isBigEndian: Bool = false, hasLuma: Bool = false)
    /// Luma in words of two bytes with this number of bits.
    case deepGray(bits: Int, isBigEndian: Bool = false)
    /// A sensor's squares of 2 × 2 pixels, in which red has this place.
    case bayer(redX: Int, redY: Int)
    /// A JPEG.
    case jpeg
  }

  /// The four letters.
  package let code: String
  let form: Form

  // Where the three values of a pixel lie in its word, 0 being the lowest bit.
  private static let rgb565: [ClosedRange<Int>] = [11...15, 5...10, 0...4]
  private static let xrgb1555: [ClosedRange<Int>] = [10...14, 5...9, 0...4]
  private static let rgbx5551: [ClosedRange<Int>] = [11...15, 6...10, 1...5]
  private static let xbgr1555: [ClosedRange<Int>] = [0...4, 5...9, 10...14]
  private static let bgrx5551: [ClosedRange<Int>] = [1...5, 6...10, 11...15]
  private static let xrgb4444: [ClosedRange<Int>] = [8...11, 4...7, 0...3]
  private static let rgbx4444: [ClosedRange<Int>] = [12...15, 8...11, 4...7]
  private static let xbgr4444: [ClosedRange<Int>] = [0...3, 4...7, 8...11]
  private static let bgrx4444: [ClosedRange<Int>] = [4...7, 8...11, 12...15]
  private static let bgrx6666: [ClosedRange<Int>] = [14...19, 20...25, 26...31]
  private static let rgb332: [ClosedRange<Int>] = [5...7, 2...4, 0...1]

  /// All that are read, the cheapest first.
  package static let all: [CameraFormat] = common + bytes + words + gray + sensors

  private static let common: [CameraFormat] = [
    .init("NV12", .layout(.nv12)), .init("YU12", .layout(.i420)), .init("YUYV", .layout(.yuyv)),
    .init("UYVY", .layout(.uyvy)), .init("YVYU", .layout(.yvyu)), .init("VYUY", .layout(.vyuy)),
    .init("NV21", .layout(.nv21)), .init("YV12", .layout(.yv12)), .init("NV16", .layout(.nv16)),
    .init("NV61", .layout(.nv61)), .init("422P", .layout(.i422)),
    .init("NV24", .semiplanar444(isVFirst: false)),
    .init("NV42", .semiplanar444(isVFirst: true)), .init("RGB3", .layout(.rgb24)),
    .init("BGR3", .layout(.bgr24)), .init("MJPG", .jpeg), .init("JPEG", .jpeg),
  ]

  private static let bytes: [CameraFormat] = [
    .init("XR24", .bytes([2, 1, 0])),
    .init("AR24", .bytes([2, 1, 0])),
    .init("BGR4", .bytes([2, 1, 0])),
    .init("RGB4", .bytes([1, 2, 3])),
    .init("BX24", .bytes([1, 2, 3])),
    .init("BA24", .bytes([1, 2, 3])),
    .init("RX24", .bytes([3, 2, 1])),
    .init("RA24", .bytes([3, 2, 1])),
    .init("XB24", .bytes([0, 1, 2])),
    .init("AB24", .bytes([0, 1, 2])),
    .init("YUV4", .bytes([1, 2, 3], hasLuma: true)),
    .init("AYUV", .bytes([1, 2, 3], hasLuma: true)),
    .init("XYUV", .bytes([1, 2, 3], hasLuma: true)),
    .init("VUYA", .bytes([2, 1, 0], hasLuma: true)),
    .init("VUYX", .bytes([2, 1, 0], hasLuma: true)),
    .init("YUVA", .bytes([0, 1, 2], hasLuma: true)),
    .init("YUVX", .bytes([0, 1, 2], hasLuma: true)),
  ]

  private static let words: [CameraFormat] = [
    .init("RGBP", .bits(rgb565)),
    .init("RGBR", .bits(rgb565, isBigEndian: true)),
    .init("RGBO", .bits(xrgb1555)),
    .init("XR15", .bits(xrgb1555)),
    .init("AR15", .bits(xrgb1555)),
    .init("RGBQ", .bits(xrgb1555, isBigEndian: true)),
    .init("XR15-BE", .bits(xrgb1555, isBigEndian: true)),
    .init("AR15-BE", .bits(xrgb1555, isBigEndian: true)),
    .init("RX15", .bits(rgbx5551)),
    .init("RA15", .bits(rgbx5551)),
    .init("XB15", .bits(xbgr1555)),
    .init("AB15", .bits(xbgr1555)),
    .init("BX15", .bits(bgrx5551)),
    .init("BA15", .bits(bgrx5551)),
    .init("R444", .bits(xrgb4444)),
    .init("XR12", .bits(xrgb4444)),
    .init("AR12", .bits(xrgb4444)),
    .init("RX12", .bits(rgbx4444)),
    .init("RA12", .bits(rgbx4444)),
    .init("XB12", .bits(xbgr4444)),
    .init("AB12", .bits(xbgr4444)),
    .init("BX12", .bits(bgrx4444)),
    .init("GA12", .bits(bgrx4444)),
    .init("BGRH", .bits(bgrx6666, byteCount: 4, isBigEndian: true)),
    .init("RGB1", .bits(rgb332, byteCount: 1)),
    .init("YUVP", .bits(rgb565, hasLuma: true)),
    .init("YUVO", .bits(xrgb1555, hasLuma: true)),
    .init("Y444", .bits(xrgb4444, hasLuma: true)),
  ]

  private static let gray: [CameraFormat] = [
    .init("GREY", .layout(.gray8)), .init("Y10", .deepGray(bits: 10)),
    .init("Y12", .deepGray(bits: 12)),
    .init("Y14", .deepGray(bits: 14)),
    .init("Y16", .deepGray(bits: 16)),
    .init("Y16-BE", .deepGray(bits: 16, isBigEndian: true)),
  ]

  private static let sensors: [CameraFormat] = [
    .init("BA81", .bayer(redX: 1, redY: 1)), .init("GBRG", .bayer(redX: 0, redY: 1)),
    .init("GRBG", .bayer(redX: 1, redY: 0)), .init("RGGB", .bayer(redX: 0, redY: 0)),
  ]

  private init(_ code: String, _ form: Form) {
    self.code = code
    self.form = form
  }

  /// The form with these letters; nil if it is not read.
  package static func named(_ code: String) -> CameraFormat? { all.first { $0.code == code } }

  /// The word by which Video4Linux knows the form: its letters, then spaces; the highest bit where words have the highest byte first.
  var word: UInt32 {
    let parts = code.split(separator: "-")
    let letters = Array(parts[0].utf8) + [0x20, 0x20, 0x20, 0x20]
    let word: UInt32 = (0..<4).reduce(0) { $0 | UInt32(letters[$1]) << UInt32(8 * $1) }
    return parts.count > 1 ? word | 0x8000_0000 : word
  }

  /// Whether there is luma alone.
  var isGray: Bool {
    switch form {
    case .layout(.gray8), .deepGray: true
    default: false
    }
  }

  /// The minimum distance between rows of the first plane, in bytes; 0 for compressed frames.
  private func minimumStride(_ width: Int) -> Int {
    switch form {
    case .layout(let layout): layout.minimumStride(width)
    case .semiplanar444, .bayer: width
    case .bytes(_, let count, _): count * width
    case .bits(_, let count, _, _): count * width
    case .deepGray: 2 * width
    case .jpeg: 0
    }
  }

  /// The number of bytes of all planes; 0 for compressed frames.
  private func byteCount(height: Int, stride: Int) -> Int {
    switch form {
    case .layout(let layout): layout.byteCount(height: height, stride: stride)
    case .semiplanar444: 3 * stride * height
    case .bytes, .bits, .deepGray, .bayer: stride * height
    case .jpeg: 0
    }
  }

  /// Makes a picture of a frame's bytes.
  ///
  /// - Parameters:
  ///   - bytes: What the driver wrote.
  ///   - stride: The distance between rows of the first plane, as the driver says; too short ones are taken for rows without gaps.
  /// - Throws: `malformedImage` for too few bytes, or a JPEG of another size; errors of decoding JPEGs, and `resourceLimit` for a larger one.
  package func picture(_ bytes: [UInt8], width: Int, height: Int, stride: Int, color: VideoColor)
    throws(ApusError) -> RawPicture
  {
    try decoded(bytes, width: width, height: height, stride: stride, color: color).picture
  }

  /// Makes a picture of a frame's bytes, and tells the damage of a JPEG that could be decoded all the same.
  ///
  /// Parameters and errors are those of ``picture(_:width:height:stride:color:)``.
  package func decoded(_ bytes: [UInt8], width: Int, height: Int, stride: Int, color: VideoColor)
    throws(ApusError) -> (picture: RawPicture, flaw: String?)
  {
    try ImageBuffer.check(width: width, height: height)
    if form == .jpeg { return try Self.decoded(bytes, width: width, height: height) }
    let stride = max(stride, minimumStride(width))
    guard stride <= 1 << 20 else {
      throw ApusError(.malformedImage, "rows of a frame are \(stride) bytes apart, more than \(1 << 20)")
    }
    let needed = byteCount(height: height, stride: stride)
    guard bytes.count >= needed else {
      throw ApusError(
        .malformedImage,
        "a frame of \(width) × \(height) \(code) pixels takes \(needed) bytes, but has \(bytes.count)")
    }
    if case .layout(let layout) = form {
      let picture = try RawPicture(
        bytes: bytes, width: width, height: height, bytesPerRow: stride, layout: layout, color: color)
      return (picture, nil)
    }
    let (layout, unpacked) = unpack(bytes, width, height, stride, color)
    return (
      try RawPicture(bytes: unpacked, width: width, height: height, layout: layout, color: color), nil
    )
  }

  /// Whether a decoder's message is about a few bytes before the marker of a JPEG's end: many cameras fill up their frames so, and no pixel
  /// is wrong. More bytes are pixels that damage has left over.
  private static func isHarmless(_ flaw: String) -> Bool {
    // `Corrupt JPEG data: 2 extraneous bytes before marker 0xd9`
    guard let place = flaw.firstRange(of: " extraneous bytes before marker 0xd9"),
      let count = flaw[..<place.lowerBound].split(separator: " ").last.flatMap({ Int($0) })
    else { return false }
    return count <= 64
  }

  private static func decoded(
    _ bytes: [UInt8], width: Int, height: Int
  ) throws(ApusError) -> (picture: RawPicture, flaw: String?) {
    guard ImageFileFormat(detecting: bytes) == .jpeg else {
      throw ApusError(.malformedImage, "a frame is no JPEG: it begins with \(bytes.prefix(4))")
    }
    // A frame larger than the driver announced is refused before its pixels take memory.
    let limits = ImageLimits(maximumSide: max(width, height), maximumPixelCount: width * height)
    let picture = try ImageBuffer(decoding: bytes, limits: limits)
    guard picture.width == width, picture.height == height else {
      throw ApusError(
        .malformedImage,
        "a frame is a JPEG of \(picture.width) × \(picture.height) pixels, not of \(width) × \(height)")
    }
    let layout: RawPicture.Layout =
      switch picture.format {
      case .gray: .gray8
      case .bgr: .bgr24
      default: .rgb24
      }
    let raw = try RawPicture(
      bytes: picture.bytes, width: picture.width, height: picture.height, layout: layout,
      color: VideoColor(range: .full))
    return (raw, picture.flaw.flatMap { isHarmless($0) ? nil : $0 })
  }
}
