// SPDX-License-Identifier: Apache-2.0
import Apus

/// A picture as regions are cut from it: upright, rgb, and no more of it than the part to look at.
package struct PictureView: Sendable {
  /// What pixels beyond the edge are.
  package enum Border: String, Sendable {
    /// Black.
    case zero
    /// The nearest pixel of the edge.
    case replicate
  }

  /// The width of the picture in the file after orientation: positions are in its pixels.
  let imageWidth: Int
  /// The height of the picture in the file after orientation.
  let imageHeight: Int
  /// The part to look at, which a detector searches.
  let whole: Region

  private let picture: ImageBuffer
  /// The part to look at, in stored pixels.
  private let bounds: ImageTransform.Region
  /// How many pixels of the file became one.
  private let reduction: Float

  /// Turns a picture upright.
  ///
  /// - Parameter region: The part to look at, in pixels after orientation; nil for the whole picture.
  /// - Throws: `invalidArgument` for a region without pixels, `resourceLimit` if there is no memory for a copy.
  package init(_ image: ImageBuffer, in region: PixelRect? = nil) throws(ApusError) {
    bounds =
      if let region { try image.wholePixels(of: region) } else {
        ImageTransform.Region(x: 0, y: 0, width: image.uprightWidth, height: image.uprightHeight)
      }
    if image.format != .rgb || image.orientation != .up || !image.isTightlyPacked {
      try requireMemory(
        7 * image.width * image.height, for: "a picture of \(image.width) × \(image.height) pixels")
    }
    picture = image.oriented().converted(to: .rgb)
    (imageWidth, imageHeight) = (image.originalWidth, image.originalHeight)
    let unit = Float(image.reduction)
    reduction = unit
    whole = Region(
      PixelRect(
        x: Float(bounds.x) * unit, y: Float(bounds.y) * unit, width: Float(bounds.width) * unit,
        height: Float(bounds.height) * unit))
  }

  /// The pixels of a region, turned upright, as a picture of another size.
  ///
  /// Pixel (i, j) of the result is the color at the fractions i / width and j / height of the region, where a picture's pixel (x, y) has
  /// its color at the position (x, y). Positions are rounded to 1/32 pixel, and the color is interpolated between four pixels. So does
  /// MediaPipe, by OpenCV's `warpPerspective`; its models are used to it, although half a pixel is missing on both sides. See ``CropMap``.
  ///
  /// - Throws: `invalidData` for a region without an area, or with numbers that are not finite.
  package func crop(_ region: Region, width: Int, height: Int, border: Border) throws(ApusError)
    -> ImageBuffer
  {
    try region.check("a crop")
    var stored = region
    if reduction != 1 {
      stored.center = PixelPoint(x: region.center.x / reduction, y: region.center.y / reduction)
      (stored.width, stored.height) = (region.width / reduction, region.height / reduction)
    }
    let map = CropMap(stored, width: width, height: height)
    var pixels = [UInt8](repeating: 0, count: 3 * width * height)
    var output = pixels.mutableSpan
    let bytes = picture.bytes
    let source = bytes.span
    let (left, top) = (bounds.x, bounds.y)
    let (right, bottom) = (left + bounds.width - 1, top + bounds.height - 1)
    let rowBytes = picture.width * 3
    var target = 0
    for row in 0..<height {
      for column in 0..<width {
        let (x, y) = map.steps(column: column, row: row)
        let (x0, y0) = (x >> 5, y >> 5)
        let (fx, fy) = (x & 31, y & 31)
        if x0 >= left, x0 < right, y0 >= top, y0 < bottom {
          let first = y0 &* rowBytes &+ x0 &* 3
          for channel in 0..<3 {
            let above = first &+ channel
            let below = above &+ rowBytes
            let upper = (32 &- fx) &* Int(source[above]) &+ fx &* Int(source[above &+ 3])
            let lower = (32 &- fx) &* Int(source[below]) &+ fx &* Int(source[below &+ 3])
            output[target &+ channel] = UInt8(
              truncatingIfNeeded: ((32 &- fy) &* upper &+ fy &* lower &+ 512) >> 10)
          }
        } else if border == .replicate || x0 >= left - 1 && x0 <= right && y0 >= top - 1 && y0 <= bottom {
          func value(_ x: Int, _ y: Int, _ channel: Int) -> Int {
            if border == .zero, x < left || x > right || y < top || y > bottom { return 0 }
            let (column, row) = (min(max(x, left), right), min(max(y, top), bottom))
            return Int(source[row &* rowBytes &+ column &* 3 &+ channel])
          }
          for channel in 0..<3 {
            let upper = (32 &- fx) &* value(x0, y0, channel) &+ fx &* value(x0 + 1, y0, channel)
            let lower = (32 &- fx) &* value(x0, y0 + 1, channel) &+ fx &* value(x0 + 1, y0 + 1, channel)
            output[target &+ channel] = UInt8(
              truncatingIfNeeded: ((32 &- fy) &* upper &+ fy &* lower &+ 512) >> 10)
          }
        }
        target &+= 3
      }
    }
    return ImageBuffer(trusted: pixels, width: width, height: height, format: .rgb)
  }
}
