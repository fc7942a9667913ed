// SPDX-License-Identifier: Apache-2.0

/// A box in fractions of a picture's height and width, in the order that detection models use.
///
/// Boxes of a model may reach outside the picture. They are clamped only by ``clamped``.
public struct BoundingBox: Hashable, Sendable {
  /// The top edge, 0 at the top of the picture and 1 at its bottom.
  public var ymin: Float
  /// The left edge, 0 at the left of the picture and 1 at its right.
  public var xmin: Float
  /// The bottom edge.
  public var ymax: Float
  /// The right edge.
  public var xmax: Float

  /// Makes a box from its edges.
  public init(ymin: Float, xmin: Float, ymax: Float, xmax: Float) {
    self.ymin = ymin
    self.xmin = xmin
    self.ymax = ymax
    self.xmax = xmax
  }

  /// The distance from left to right, in widths of the picture.
  public var width: Float { xmax - xmin }

  /// The distance from top to bottom, in heights of the picture.
  public var height: Float { ymax - ymin }

  /// The share of the picture that the box covers; zero for an inverted box.
  public var area: Float { width > 0 && height > 0 ? width * height : 0 }

  /// The part inside the picture; NaN counts as zero.
  public var clamped: BoundingBox {
    BoundingBox(
      ymin: clamp(ymin, to: 1), xmin: clamp(xmin, to: 1), ymax: clamp(ymax, to: 1), xmax: clamp(xmax, to: 1))
  }

  /// The box in pixels of a picture of this size.
  public func rect(width pictureWidth: Int, height pictureHeight: Int) -> PixelRect {
    PixelRect(
      x: xmin * Float(pictureWidth), y: ymin * Float(pictureHeight), width: width * Float(pictureWidth),
      height: height * Float(pictureHeight))
  }

  /// The shared area over the joint area, 0 to 1; 0 if both boxes are empty.
  public func intersectionOverUnion(_ other: BoundingBox) -> Float {
    let shared = BoundingBox(
      ymin: max(ymin, other.ymin), xmin: max(xmin, other.xmin), ymax: min(ymax, other.ymax),
      xmax: min(xmax, other.xmax)
    ).area
    let joint = area + other.area - shared
    return joint > 0 ? shared / joint : 0
  }
}
