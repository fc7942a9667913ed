// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusPixels

/// A picture as regions are cut from it: upright, rgb, and no more of it than the part to look at.
package struct PictureView: Sendable {
  /// The values of pixels beyond the edge.
  package typealias Border = PerspectiveCrop.Border

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
    let pixels = CropMap.crop(of: stored, width: width, height: height).pixels(
      width: width, height: height, of: picture.bytes, rowBytes: 3 * picture.width,
      in: PerspectiveCrop.Bounds(x: bounds.x, y: bounds.y, width: bounds.width, height: bounds.height),
      border: border)
    return ImageBuffer(trusted: pixels, width: width, height: height, format: .rgb)
  }
}
