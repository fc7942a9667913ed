// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

/// The pixels of a video's frame as its source delivers them.
public struct RawPicture: Hashable, Sendable {
  /// Where luma, chroma or colors lie.
  public enum Layout: String, CaseIterable, Hashable, Sendable {
    /// A plane of luma, then one of U and V in turn, each for two by two pixels.
    case nv12
    /// A plane of luma, then one of U and one of V, each for two by two pixels.
    case i420
    /// Luma, U, luma, V for each two pixels of a row.
    case yuyv
    /// Luma alone.
    case gray8
    /// Red, green, blue.
    case rgb24
    /// Blue, green, red.
    case bgr24

    /// The least distance between rows of the first plane, in bytes.
    func minimumStride(_ width: Int) -> Int {
      switch self {
      case .nv12, .i420, .gray8: width
      case .yuyv: 4 * ((width + 1) / 2)
      case .rgb24, .bgr24: 3 * width
      }
    }

    /// The distance between rows of chroma, where rows of luma are `stride` apart.
    func chromaStride(_ stride: Int) -> Int { self == .i420 ? (stride + 1) / 2 : 2 * ((stride + 1) / 2) }

    /// The number of bytes of a picture.
    func byteCount(height: Int, stride: Int) -> Int {
      let chromaRows = (height + 1) / 2
      return switch self {
      case .nv12: stride * height + chromaStride(stride) * chromaRows
      case .i420: stride * height + 2 * chromaStride(stride) * chromaRows
      case .yuyv, .gray8, .rgb24, .bgr24: stride * height
      }
    }
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

  /// Makes a picture from its bytes.
  ///
  /// - Parameters:
  ///   - bytes: The planes, one after the other; what follows them is ignored.
  ///   - width: The pixels in a row.
  ///   - height: The rows.
  ///   - bytesPerRow: The distance between rows of the first plane; nil for rows without gaps. Rows of chroma are as far apart in NV12,
  ///     half as far in I420.
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
  }

  /// The picture as rgb, or gray if it has only luma. Chroma is that of the nearest sample.
  public func converted() -> ImageBuffer {
    switch layout {
    case .gray8: gray()
    case .rgb24, .bgr24: packed()
    case .nv12, .i420, .yuyv: fromLumaAndChroma()
    }
  }

  private func gray() -> ImageBuffer {
    let tables = ColorTables(color)
    var result = [UInt8](repeating: 0, count: width * height)
    var output = result.mutableSpan
    for y in 0..<height {
      let row = bytes.span.extracting(y * bytesPerRow..<y * bytesPerRow + width)
      for x in 0..<width { output[y * width + x] = clamped(tables.luma[Int(row[x])]) }
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

  private func fromLumaAndChroma() -> ImageBuffer {
    let tables = ColorTables(color)
    let luma = tables.luma.span
    let redOfV = tables.redOfV.span
    let greenOfU = tables.greenOfU.span
    let greenOfV = tables.greenOfV.span
    let blueOfU = tables.blueOfU.span
    let source = bytes.span
    let chroma = bytesPerRow * height
    let chromaStride = layout.chromaStride(bytesPerRow)
    let lumaStep = layout == .yuyv ? 2 : 1
    let chromaStep =
      switch layout {
      case .yuyv: 4
      case .nv12: 2
      default: 1
      }
    var result = [UInt8](repeating: 0, count: 3 * width * height)
    var output = result.mutableSpan
    for y in 0..<height {
      let (u, v) =
        switch layout {
        case .yuyv: (y * bytesPerRow + 1, y * bytesPerRow + 3)
        case .nv12: (chroma + (y / 2) * chromaStride, chroma + (y / 2) * chromaStride + 1)
        default:
          (
            chroma + (y / 2) * chromaStride,
            chroma + chromaStride * ((height + 1) / 2) + (y / 2) * chromaStride
          )
        }
      var target = 3 * y * width
      for x in stride(from: 0, to: width, by: 2) {
        let uValue = Int(source[u + (x / 2) * chromaStep])
        let vValue = Int(source[v + (x / 2) * chromaStep])
        let (red, green, blue) = (redOfV[vValue], greenOfU[uValue] + greenOfV[vValue], blueOfU[uValue])
        for column in x..<min(x + 2, width) {
          let level = luma[Int(source[y * bytesPerRow + column * lumaStep])]
          output[target] = clamped(level + red)
          output[target + 1] = clamped(level + green)
          output[target + 2] = clamped(level + blue)
          target += 3
        }
      }
    }
    return ImageBuffer(trusted: result, width: width, height: height, format: .rgb)
  }
}

/// The byte of a sum in 65,536ths that already has its half.
@inline(__always)
private func clamped(_ sum: Int32) -> UInt8 {
  UInt8(truncatingIfNeeded: max(0, min(255, sum >> 16)))
}
