// SPDX-License-Identifier: Apache-2.0

/// The point of a box that decides where its object is.
public enum BoxAnchor: String, CaseIterable, Hashable, Sendable, Codable {
  case topLeft, topCenter, topRight
  case centerLeft, center, centerRight
  case bottomLeft
  /// The middle of the bottom edge: where a standing object touches the ground.
  case bottomCenter
  case bottomRight

  /// The anchor of a box.
  public func point(of box: TrackingBox) -> TrackingPoint {
    let x =
      switch self {
      case .topLeft, .centerLeft, .bottomLeft: box.minX
      case .topCenter, .center, .bottomCenter: (box.minX + box.maxX) / 2
      case .topRight, .centerRight, .bottomRight: box.maxX
      }
    let y =
      switch self {
      case .topLeft, .topCenter, .topRight: box.minY
      case .centerLeft, .center, .centerRight: (box.minY + box.maxY) / 2
      case .bottomLeft, .bottomCenter, .bottomRight: box.maxY
      }
    return TrackingPoint(x: x, y: y)
  }
}
