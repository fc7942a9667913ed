// SPDX-License-Identifier: Apache-2.0

/// An upright box by its edges, in pixels or in fractions of the picture: trackers and counters take either, but not both in turn.
///
/// `y` grows downwards, as in pictures.
public struct TrackingBox: Hashable, Sendable, Codable {
  /// The left edge.
  public var minX: Double
  /// The top edge.
  public var minY: Double
  /// The right edge.
  public var maxX: Double
  /// The bottom edge.
  public var maxY: Double

  /// Makes a box from its edges.
  public init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
    self.minX = minX
    self.minY = minY
    self.maxX = maxX
    self.maxY = maxY
  }

  /// Makes a box from its top left corner and its size.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.init(minX: x, minY: y, maxX: x + width, maxY: y + height)
  }

  /// The distance from the left to the right edge.
  public var width: Double { maxX - minX }

  /// The distance from the top to the bottom edge.
  public var height: Double { maxY - minY }

  /// The center.
  public var center: TrackingPoint { TrackingPoint(x: minX + width / 2, y: minY + height / 2) }

  /// The shared area over the joint area, 0 to 1; 0 for boxes that are empty or inverted.
  public func intersectionOverUnion(_ other: TrackingBox) -> Double { overlap(other) }

  /// The largest coordinate, in either direction, that a tracker takes: areas and their sums stay far from overflow.
  static let maximumCoordinate = 1e9

  /// Whether the box is not empty, not inverted, and within ``maximumCoordinate``.
  var isUsable: Bool {
    let limit = Self.maximumCoordinate
    return minX >= -limit && minY >= -limit && maxX <= limit && maxY <= limit && minX < maxX && minY < maxY
  }
}

extension TrackingBox: UprightRectangle {
  @usableFromInline package var area: Double { width * height }
}
