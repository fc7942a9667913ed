// SPDX-License-Identifier: Apache-2.0

/// Where what a model saw lies in the picture: the way back from the input, through the region of interest.
struct Placement: Hashable, Sendable {
  /// From the input to the region.
  let transform: ImageTransform
  /// The region's corner.
  let x: Int
  /// The region's corner.
  let y: Int
  /// The whole picture's width as it is seen.
  let imageWidth: Int
  /// The whole picture's height as it is seen.
  let imageHeight: Int

  /// The region in pixels of the picture.
  var region: PixelRect {
    PixelRect(
      x: Float(x), y: Float(y), width: Float(transform.imageWidth), height: Float(transform.imageHeight))
  }

  /// The pixel position in the picture that a position in the input, as fractions, shows.
  func imagePoint(modelX: Float, modelY: Float) -> (x: Float, y: Float) {
    let point = transform.imagePoint(modelX: modelX, modelY: modelY)
    return (point.x + Float(x), point.y + Float(y))
  }

  /// The pixels of the picture that a model's box covers; not clamped.
  func imageRect(ofModelBox box: BoundingBox) -> PixelRect {
    var rect = transform.imageRect(ofModelBox: box)
    rect.x += Float(x)
    rect.y += Float(y)
    return rect
  }

  /// The part of a rectangle that the model saw.
  func clipped(_ rect: PixelRect) -> PixelRect {
    let inside = PixelRect(
      x: rect.x - Float(x), y: rect.y - Float(y), width: rect.width, height: rect.height
    ).clamped(width: transform.imageWidth, height: transform.imageHeight)
    return PixelRect(
      x: inside.x + Float(x), y: inside.y + Float(y), width: inside.width, height: inside.height)
  }

  /// The same rectangle as fractions of the picture.
  func imageBox(of rect: PixelRect) -> BoundingBox {
    BoundingBox(
      ymin: rect.y / Float(imageHeight), xmin: rect.x / Float(imageWidth),
      ymax: rect.maxY / Float(imageHeight), xmax: rect.maxX / Float(imageWidth))
  }
}
