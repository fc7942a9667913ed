// SPDX-License-Identifier: Apache-2.0

import ApusTracking

/// A rectangle in pixels, from the top left corner of the picture after orientation.
///
/// Coordinates lie between pixels: the first pixel of a row spans 0 to 1.
public struct PixelRect: Hashable, Codable, Sendable {
  /// The left edge.
  public var x: Float
  /// The top edge.
  public var y: Float
  /// The distance from the left to the right edge; negative if a model's box is inverted.
  public var width: Float
  /// The distance from the top to the bottom edge; negative if a model's box is inverted.
  public var height: Float

  /// Makes a rectangle from its corner and size.
  public init(x: Float, y: Float, width: Float, height: Float) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The left edge, as ``x``.
  public var minX: Float { x }

  /// The top edge, as ``y``.
  public var minY: Float { y }

  /// The right edge.
  public var maxX: Float { x + width }

  /// The bottom edge.
  public var maxY: Float { y + height }

  /// Width times height; zero for an inverted rectangle.
  public var area: Float { width > 0 && height > 0 ? width * height : 0 }

  /// The shared area over the joint area, 0 to 1; 0 if both rectangles are empty.
  public func intersectionOverUnion(_ other: PixelRect) -> Float { overlap(other) }

  /// The part inside a picture of that size; NaN counts as zero.
  public func clamped(width limitX: Int, height limitY: Int) -> PixelRect {
    let left = clamp(x, to: Float(limitX))
    let top = clamp(y, to: Float(limitY))
    return PixelRect(
      x: left, y: top, width: clamp(maxX, to: Float(limitX)) - left,
      height: clamp(maxY, to: Float(limitY)) - top)
  }
}

extension PixelRect: UprightRectangle {}

/// The value within 0 to `limit`; NaN becomes 0.
func clamp(_ value: Float, to limit: Float) -> Float {
  value > 0 ? (value < limit ? value : limit) : 0
}
