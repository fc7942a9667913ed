// SPDX-License-Identifier: Apache-2.0
import ApusSystem

/// A box that is turned to fit its object.
public struct OrientedBox: Hashable, Codable, Sendable {
  /// The four corners in turn, in pixels of the picture after orientation. The first one is at the top left before the turn; they may lie
  /// outside the picture.
  public let corners: [PixelPoint]

  /// Makes a box from four corners in turn.
  public init(corners: [PixelPoint]) { self.corners = corners }

  /// The direction from the first corner to the second, in radians: 0 to the right, growing clockwise, −π to π.
  public var angle: Float {
    guard corners.count == 4 else { return 0 }
    return atan2(corners[1].y - corners[0].y, corners[1].x - corners[0].x)
  }
}
