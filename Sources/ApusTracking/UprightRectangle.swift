// SPDX-License-Identifier: Apache-2.0

/// A rectangle by its edges, in any unit.
@usableFromInline package protocol UprightRectangle {
  associatedtype Coordinate: FloatingPoint

  var minX: Coordinate { get }
  var minY: Coordinate { get }
  var maxX: Coordinate { get }
  var maxY: Coordinate { get }
  /// Width times height.
  var area: Coordinate { get }
}

extension UprightRectangle {
  /// Intersection over union: the shared area over the joint area, 0 to 1; 0 for rectangles that are apart, empty or inverted.
  @inlinable package func overlap(_ other: Self) -> Coordinate {
    let width = min(maxX, other.maxX) - max(minX, other.minX)
    let height = min(maxY, other.maxY) - max(minY, other.minY)
    guard width > 0, height > 0 else { return 0 }
    let shared = width * height
    let joint = area + other.area - shared
    return joint > 0 ? shared / joint : 0
  }
}
