// SPDX-License-Identifier: Apache-2.0
import Apus

/// The mapping from a model's input back to the picture after orientation, and the part that the model saw.
struct Placement: Hashable, Sendable {
  /// From the input to the picture.
  let transform: ImageTransform
  /// The part that the model saw, in pixels of the picture.
  private let seen: PixelRect

  /// Combines the mapping with the whole pixels of a region.
  init(_ transform: ImageTransform, of image: ImageBuffer, region: PixelRect?) throws(ApusError) {
    self.transform = transform
    guard let region else {
      seen = PixelRect(x: 0, y: 0, width: Float(transform.imageWidth), height: Float(transform.imageHeight))
      return
    }
    let pixels = try image.wholePixels(of: region)
    let unit = Float(image.reduction)
    seen = PixelRect(
      x: Float(pixels.x) * unit, y: Float(pixels.y) * unit, width: Float(pixels.width) * unit,
      height: Float(pixels.height) * unit)
  }

  /// The whole picture's width after orientation.
  var imageWidth: Int { transform.imageWidth }
  /// The whole picture's height after orientation.
  var imageHeight: Int { transform.imageHeight }

  /// The whole pixels that the model saw.
  var seenPixels: ImageTransform.Region {
    ImageTransform.Region(x: Int(seen.x), y: Int(seen.y), width: Int(seen.width), height: Int(seen.height))
  }

  /// The whole pixels of the picture that lie in the input: those that the model saw, without what is cut away to fit it.
  var pixelsInInput: ImageTransform.Region {
    let seen = seenPixels
    func span(_ start: Int, _ count: Int, _ position: (Float) -> Float) -> Range<Int> {
      let inside = (start..<start + count).filter { (0...1).contains(position(Float($0) + 0.5)) }
      return (inside.first ?? start)..<(inside.last ?? start - 1) + 1
    }
    let columns = span(seen.x, seen.width) { transform.modelPoint(imageX: $0, imageY: 0).x }
    let rows = span(seen.y, seen.height) { transform.modelPoint(imageX: 0, imageY: $0).y }
    return ImageTransform.Region(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  /// The pixel position in the picture for a position in the input, in fractions.
  func imagePoint(modelX: Float, modelY: Float) -> (x: Float, y: Float) {
    transform.imagePoint(modelX: modelX, modelY: modelY)
  }

  /// The pixels of the picture that a model's box covers; not clamped.
  func imageRect(ofModelBox box: BoundingBox) -> PixelRect { transform.imageRect(ofModelBox: box) }

  /// Whether a rectangle lies wholly beside what the model saw, as in the bars of a letterbox.
  func isOutside(_ rect: PixelRect) -> Bool {
    rect.maxX <= seen.x || rect.maxY <= seen.y || rect.x >= seen.maxX || rect.y >= seen.maxY
  }

  /// The part of a rectangle that the model saw.
  func clipped(_ rect: PixelRect) -> PixelRect {
    let left = clamp(rect.x - seen.x, to: seen.width)
    let top = clamp(rect.y - seen.y, to: seen.height)
    return PixelRect(
      x: seen.x + left, y: seen.y + top, width: clamp(rect.maxX - seen.x, to: seen.width) - left,
      height: clamp(rect.maxY - seen.y, to: seen.height) - top)
  }

  /// A rectangle as fractions of the picture.
  func imageBox(of rect: PixelRect) -> BoundingBox {
    BoundingBox(
      minX: rect.x / Float(imageWidth), minY: rect.y / Float(imageHeight),
      maxX: rect.maxX / Float(imageWidth), maxY: rect.maxY / Float(imageHeight))
  }
}
