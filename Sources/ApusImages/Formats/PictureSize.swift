// SPDX-License-Identifier: Apache-2.0
import ApusVision

extension ImageBuffer {
  /// The stored width and height in a picture file's header, without decoding it; nil if there is none.
  ///
  /// Nothing is checked: decoding decides whether the file is a picture.
  public static func storedSize(ofFile bytes: [UInt8]) -> (width: Int, height: Int)? {
    func big(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - count else { return nil }
      return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
    func little(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - count else { return nil }
      return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    var found: (Int?, Int?)
    switch ImageFileFormat(detecting: bytes) {
    case .png:
      // The header comes first.
      guard bytes.dropFirst(12).starts(with: "IHDR".utf8) else { return nil }
      found = (big(16, 4), big(20, 4))
    case .bmp:
      let isCore = little(14, 4) == 12
      found = isCore ? (little(18, 2), little(20, 2)) : (little(18, 4), little(22, 4))
      // The height of a bitmap from top to bottom is negative.
      if !isCore, let height = found.1 { found.1 = abs(Int(Int32(truncatingIfNeeded: height))) }
    case .jpeg:
      guard let body = JPEGSegments(bytes).first(where: { JPEGSegments.isFrame($0.marker) })?.body else {
        return nil
      }
      found = (big(body.startIndex + 3, 2), big(body.startIndex + 1, 2))
    case .pnm: return try? NetpbmDecoder.size(of: bytes)
    case .webp: return WebPChunks.size(in: bytes)
    case nil: return nil
    }
    guard let width = found.0, let height = found.1 else { return nil }
    return (width, height)
  }

  /// How many bytes a picture takes at most, roughly, while it is decoded; the file's are not counted. Nil if the beginning of the
  /// file does not say so.
  ///
  /// - Parameter isDrawnOn: Whether it is copied, drawn on and encoded again.
  package static func decodingByteCount(
    ofFileBeginningWith bytes: [UInt8], limits: ImageLimits = ImageLimits(), reduction: ImageReduction,
    isDrawnOn: Bool
  ) -> Int? {
    guard let (width, height) = storedSize(ofFile: bytes) else { return nil }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    // A picture beyond the limit is refused before memory is allocated.
    guard !overflow, (0...limits.maximumPixelCount).contains(pixels) else { return 0 }
    let drawnByteCount = isDrawnOn ? 12 * pixels : 0
    switch ImageFileFormat(detecting: bytes) {
    case .jpeg: break
    // The rows before they are 8-bit pixels, and the decoder's own.
    case .png where DeepPNGDecoder.accepts(bytes): return max(14 * pixels, drawnByteCount)
    case .webp: return max(12 * pixels, drawnByteCount)
    default: return max(4 * pixels, drawnByteCount)
    }
    let header = JPEGHeader(bytes)
    let colorBytes = header.componentCount > 3 ? 8 : 4
    if header.hasSingleScan {
      let factor =
        header.orientation.swapsSides
        ? reduction.factor(width: height, height: width) : reduction.factor(width: width, height: height)
      return max(colorBytes * pixels / (factor * factor), drawnByteCount)
    }
    // The coefficients of all scans are in memory, two bytes each.
    return max((colorBytes + 8) * pixels, drawnByteCount)
  }
}
