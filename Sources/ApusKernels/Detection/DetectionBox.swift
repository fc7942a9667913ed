// SPDX-License-Identifier: Apache-2.0

/// A box by its edges, and its area.
struct DetectionBox {
  let top: Float
  let left: Float
  let bottom: Float
  let right: Float
  /// Negative if edges are on the wrong side in one direction.
  let area: Float

  /// Creates a box from its edges.
  @inline(__always)
  init(top: Float, left: Float, bottom: Float, right: Float) {
    (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
    area = (bottom - top) * (right - left)
  }

  /// Creates a box from stored values.
  @inline(__always)
  init(top: Float, left: Float, bottom: Float, right: Float, area: Float) {
    (self.top, self.left, self.bottom, self.right, self.area) = (top, left, bottom, right, area)
  }

  /// Creates a box from two opposite corners.
  @inline(__always)
  init(corners top: Float, _ left: Float, _ bottom: Float, _ right: Float) {
    self.init(
      top: bottom < top ? bottom : top, left: right < left ? right : left,
      bottom: top < bottom ? bottom : top, right: left < right ? right : left)
  }

  /// Whether no edge is on the wrong side; NaN is not.
  var isUpright: Bool { !(top > bottom || left > right) }

  /// Whether both have areas and do not intersect; false if an edge is NaN.
  @inline(__always)
  func isApart(from other: DetectionBox) -> Bool {
    (other.bottom <= top || bottom <= other.top || other.right <= left || right <= other.left)
      && area + other.area < .infinity
  }

  /// Intersection over union; zero for a box without area.
  ///
  /// Operations and their order are the reference's, so that comparisons with limits agree to the last bit.
  @inline(__always)
  func overlap(_ other: DetectionBox) -> Float {
    if area <= 0 || other.area <= 0 { return 0 }
    let intersection =
      Self.shared(top, bottom, other.top, other.bottom) * Self.shared(left, right, other.left, other.right)
    return intersection / (area + other.area - intersection)
  }

  @inline(__always)
  private static func shared(
    _ start: Float, _ end: Float, _ otherStart: Float, _ otherEnd: Float
  ) -> Float {
    let last = otherEnd < end ? otherEnd : end
    let first = start < otherStart ? otherStart : start
    return last - first < 0 ? 0 : last - first
  }
}
