// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusPixels
import ApusVision

/// The pixels of a video's frame as its source delivers them.
public struct RawPicture: Hashable, Sendable {
  /// Where luma, chroma or colors lie.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Layout: String, CaseIterable, Hashable, Sendable {
    /// A plane of luma, then one of U and V in turn, each for two by two pixels.
    case nv12
    /// A plane of luma, then one of V and U in turn, each for two by two pixels.
    case nv21
    /// A plane of luma, then one of U and one of V, each for two by two pixels.
    case i420
    /// A plane of luma, then one of V and one of U, each for two by two pixels.
    case yv12
    /// A plane of luma, then one of U and V in turn, each for two pixels of a row.
    case nv16
    /// A plane of luma, then one of V and U in turn, each for two pixels of a row.
    case nv61
    /// A plane of luma, then one of U and one of V, each for two pixels of a row.
    case i422
    /// Luma, U, luma, V for each two pixels of a row.
    case yuyv
    /// Luma, V, luma, U for each two pixels of a row.
    case yvyu
    /// U, luma, V, luma for each two pixels of a row.
    case uyvy
    /// V, luma, U, luma for each two pixels of a row.
    case vyuy
    /// Luma alone.
    case gray8
    /// Red, green, blue.
    case rgb24
    /// Blue, green, red.
    case bgr24
  }

  /// The bytes, row by row from the top, plane by plane.
  public let bytes: [UInt8]
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// The distance from one row of the first plane to the next, in bytes.
  public let bytesPerRow: Int
  /// Where luma, chroma or colors lie.
  public let layout: Layout
  /// How luma and chroma stand for colors; of no meaning for pictures of colors.
  public let color: VideoColor
  /// Where luma and chroma lie; nil for pictures of luma alone, and of colors.
  private let planes: LumaChroma?

  /// Makes a picture from its bytes.
  ///
  /// - Parameters:
  ///   - bytes: The planes, one after the other; what follows them is ignored.
  ///   - width: The pixels in a row.
  ///   - height: The rows.
  ///   - bytesPerRow: The distance between rows of the first plane; nil for rows without gaps. Rows of chroma are as far apart where U and V
  ///     share a plane, and half as far where they do not.
  ///   - layout: Where luma, chroma or colors lie.
  ///   - color: How luma and chroma stand for colors.
  /// - Throws: `malformedImage` for an empty picture, a stride shorter than a row or too few bytes; `resourceLimit` beyond the limits of
  ///   `ImageBuffer`.
  public init(
    bytes: [UInt8], width: Int, height: Int, bytesPerRow: Int? = nil, layout: Layout,
    color: VideoColor = VideoColor()
  ) throws(ApusError) {
    try ImageBuffer.check(width: width, height: height)
    let stride = bytesPerRow ?? layout.minimumStride(width)
    guard stride >= layout.minimumStride(width), stride <= 1 << 20 else {
      throw ApusError(
        .malformedImage,
        """
        a row of \(width) \(layout.rawValue) pixels takes \(layout.minimumStride(width)) bytes, but rows are \
        \(stride) apart
        """)
    }
    let needed = layout.byteCount(height: height, stride: stride)
    guard bytes.count >= needed else {
      throw ApusError(
        .malformedImage,
        "a \(width) × \(height) \(layout.rawValue) picture takes \(needed) bytes, but there are \(bytes.count)"
      )
    }
    self.bytes = bytes
    self.width = width
    self.height = height
    self.bytesPerRow = stride
    self.layout = layout
    self.color = color
    planes = layout.planes(width: width, height: height, stride: stride, color: color)
  }

  /// The picture as rgb, or gray if it has only luma. Chroma is that of the nearest sample.
  ///
  /// Luma and chroma are kept: a task fills its model's input from them in one pass, with the values that it would get from the pixels. Those are
  /// computed when they are read first.
  public func converted() -> ImageBuffer {
    if let planes { return ImageBuffer(LumaChromaFrame(planes, bytes: bytes)) }
    return layout == .gray8 ? gray() : packed()
  }

  private func gray() -> ImageBuffer {
    let colors = LumaChromaColors(color)
    let levels = (0...255).map { colors.color($0, 128, 128).green }
    var result = [UInt8](repeating: 0, count: width * height)
    var output = result.mutableSpan
    for y in 0..<height {
      let row = bytes.span.extracting(y * bytesPerRow..<y * bytesPerRow + width)
      for x in 0..<width { output[y * width + x] = levels[Int(row[x])] }
    }
    return ImageBuffer(trusted: result, width: width, height: height, format: .gray)
  }

  private func packed() -> ImageBuffer {
    var result: [UInt8] = []
    result.reserveCapacity(3 * width * height)
    for y in 0..<height { result += bytes[(y * bytesPerRow)..<(y * bytesPerRow + 3 * width)] }
    return ImageBuffer(
      trusted: result, width: width, height: height, format: layout == .rgb24 ? .rgb : .bgr)
  }
}
