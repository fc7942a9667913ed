// SPDX-License-Identifier: Apache-2.0
import Apus

extension ImageBuffer {
  /// The part of the picture, as it is seen, that a rectangle covers, with its corner in the picture.
  ///
  /// Edges are rounded to the nearest whole pixel; what lies outside the picture is left out.
  ///
  /// - Throws: `invalidArgument` for a rectangle that is not finite or covers no pixel.
  func cropped(to rect: PixelRect) throws(ApusError) -> (image: ImageBuffer, x: Int, y: Int) {
    guard rect.x.isFinite, rect.y.isFinite, rect.maxX.isFinite, rect.maxY.isFinite else {
      throw ApusError(
        .invalidArgument,
        "the region \(rect.x), \(rect.y), \(rect.width) × \(rect.height) has a coordinate that is no number")
    }
    let left = Int(clamp(rect.x.rounded(), to: Float(uprightWidth)))
    let top = Int(clamp(rect.y.rounded(), to: Float(uprightHeight)))
    let right = Int(clamp(rect.maxX.rounded(), to: Float(uprightWidth)))
    let bottom = Int(clamp(rect.maxY.rounded(), to: Float(uprightHeight)))
    guard left < right, top < bottom else {
      throw ApusError(
        .invalidArgument,
        """
        the region \(rect.x), \(rect.y), \(rect.width) × \(rect.height) covers no pixel of the picture's \
        \(uprightWidth) × \(uprightHeight)
        """)
    }
    // Sides of a picture are at most 32,768, which floats hold exactly.
    let stored = orientation.stored(
      PixelRect(
        x: Float(left), y: Float(top), width: Float(right - left), height: Float(bottom - top)),
      width: width, height: height)
    let (x, y, partWidth, partHeight) = (Int(stored.x), Int(stored.y), Int(stored.width), Int(stored.height))
    let step = format.bytesPerPixel
    var part: [UInt8] = []
    part.reserveCapacity(partWidth * partHeight * step)
    for row in y..<y + partHeight {
      let start = row * bytesPerRow + x * step
      part += bytes[start..<start + partWidth * step]
    }
    return (
      ImageBuffer(
        trusted: part, width: partWidth, height: partHeight, format: format, orientation: orientation),
      left, top
    )
  }
}
