// SPDX-License-Identifier: Apache-2.0

import ApusTracking

/// A box in fractions of a picture's width and height.
///
/// Boxes of a model may reach outside the picture. They are clamped only by ``clamped``.
public struct BoundingBox: Hashable, Codable, Sendable {
  /// The left edge, 0 at the left of the picture and 1 at its right.
  public var minX: Float
  /// The top edge, 0 at the top of the picture and 1 at its bottom.
  public var minY: Float
  /// The right edge.
  public var maxX: Float
  /// The bottom edge.
  public var maxY: Float

  /// Makes a box from its edges.
  public init(minX: Float, minY: Float, maxX: Float, maxY: Float) {
    self.minX = minX
    self.minY = minY
    self.maxX = maxX
    self.maxY = maxY
  }

  /// The distance from left to right, in widths of the picture.
  public var width: Float { maxX - minX }

  /// The distance from top to bottom, in heights of the picture.
  public var height: Float { maxY - minY }

  /// The share of the picture that the box covers; zero for an inverted box.
  public var area: Float { width > 0 && height > 0 ? width * height : 0 }

  /// The part inside the picture; NaN counts as zero.
  public var clamped: BoundingBox {
    BoundingBox(
      minX: clamp(minX, to: 1), minY: clamp(minY, to: 1), maxX: clamp(maxX, to: 1), maxY: clamp(maxY, to: 1))
  }

  /// The box in pixels of a picture of this size.
  public func rect(width pictureWidth: Int, height pictureHeight: Int) -> PixelRect {
    PixelRect(
      x: minX * Float(pictureWidth), y: minY * Float(pictureHeight), width: width * Float(pictureWidth),
      height: height * Float(pictureHeight))
  }

  /// The shared area over the joint area, 0 to 1; 0 if both boxes are empty.
  public func intersectionOverUnion(_ other: BoundingBox) -> Float { overlap(other) }
}

extension BoundingBox: UprightRectangle {}
