// SPDX-License-Identifier: Apache-2.0

/// A point in pixels or in fractions of the picture; `y` grows downwards.
public struct TrackingPoint: Hashable, Sendable, Codable {
  /// The distance from the left edge of the picture.
  public var x: Double
  /// The distance from the top edge of the picture.
  public var y: Double

  /// Makes a point.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// Whether both coordinates are finite and small enough for products of differences.
  var isUsable: Bool { abs(x) <= TrackingBox.maximumCoordinate && abs(y) <= TrackingBox.maximumCoordinate }
}
