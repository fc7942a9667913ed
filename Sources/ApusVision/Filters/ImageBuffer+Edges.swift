// SPDX-License-Identifier: Apache-2.0
import Apus

extension ImageBuffer {
  /// How steep a tightly packed, upright picture is, in each of its color channels alike.
  ///
  /// - Parameters:
  ///   - sideWeight: What neighbors that share a side count: 1 for Prewitt's operator, 2 for Sobel's.
  ///   - strength: What the result is multiplied by.
  ///   - source: Which numbers are looked at.
  ///   - checkTime: Asked before each row.
  func edges(
    sideWeight: Int32, strength: Double, of source: StandardFilter.EdgeSource,
    _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    let levels = levels(of: source)
    var result = bytes
    var output = result.mutableSpan
    let step = format.bytesPerPixel
    let colors = format.hasAlpha || step == 3 ? 3 : 1
    let offsets = [format.redOffset, format.greenOffset, format.blueOffset]
    for y in 0..<height {
      try checkTime()
      let above = levels.span.extracting(max(y - 1, 0) * width..<max(y - 1, 0) * width + width)
      let row = levels.span.extracting(y * width..<y * width + width)
      let next = min(y + 1, height - 1)
      let below = levels.span.extracting(next * width..<next * width + width)
      for x in 0..<width {
        let (left, right) = (max(x - 1, 0), min(x + 1, width - 1))
        let topLeft = Int32(above[left])
        let topRight = Int32(above[right])
        let bottomLeft = Int32(below[left])
        let bottomRight = Int32(below[right])
        // At most 4 · 255 each, so that the squares' sum stays below 2²².
        let horizontal =
          bottomLeft &+ sideWeight &* Int32(below[x]) &+ bottomRight &- topLeft
          &- sideWeight &* Int32(above[x]) &- topRight
        let vertical =
          topRight &+ sideWeight &* Int32(row[right]) &+ bottomRight &- topLeft
          &- sideWeight &* Int32(row[left]) &- bottomLeft
        let square = horizontal &* horizontal &+ vertical &* vertical
        let level = UInt8(min((Double(square).squareRoot() * strength).rounded(), 255))
        let base = (y * width + x) * step
        for color in 0..<colors { output[base + offsets[color]] = level }
      }
    }
    return ImageBuffer(trusted: result, width: width, height: height, format: format)
  }

  /// One number for each pixel.
  private func levels(of source: StandardFilter.EdgeSource) -> [UInt8] {
    if format == .gray || source == .luminance { return converted(to: .gray).bytes }
    let bytes = bytes
    return stride(from: format.redOffset, to: bytes.count, by: format.bytesPerPixel).map { bytes[$0] }
  }
}
