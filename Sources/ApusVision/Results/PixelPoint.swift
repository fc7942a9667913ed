// SPDX-License-Identifier: Apache-2.0

/// A point in pixels, from the top left corner of the picture after orientation.
public struct PixelPoint: Hashable, Codable, Sendable {
  /// The distance from the left.
  public var x: Float
  /// The distance from the top.
  public var y: Float

  /// Makes a point.
  public init(x: Float, y: Float) {
    self.x = x
    self.y = y
  }
}
