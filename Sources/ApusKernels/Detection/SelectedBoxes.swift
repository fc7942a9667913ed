// SPDX-License-Identifier: Apache-2.0

/// Boxes that were selected, with what comparisons need of them.
@safe struct SelectedBoxes {
  /// A box with its edges in order, and its area.
  struct Box {
    let top: Float
    let left: Float
    let bottom: Float
    let right: Float
    let area: Float

    /// Two opposite corners.
    @inline(__always)
    init(_ top: Float, _ left: Float, _ bottom: Float, _ right: Float) {
      (self.top, self.bottom) = (bottom < top ? bottom : top, top < bottom ? bottom : top)
      (self.left, self.right) = (right < left ? right : left, left < right ? right : left)
      area = (self.bottom - self.top) * (self.right - self.left)
    }

    /// Whether both have areas, and share nothing; false for edges that are no numbers.
    @inline(__always)
    func isApart(from other: Box) -> Bool {
      (other.bottom <= top || bottom <= other.top || other.right <= left || right <= other.left)
        && area + other.area < .infinity
    }

    /// Intersection over union; zero for a box without area.
    @inline(__always)
    func overlap(_ other: Box) -> Float {
      if area <= 0 || other.area <= 0 { return 0 }
      let intersection = intersection(other)
      return intersection / (area + other.area - intersection)
    }

    @inline(__always)
    private func intersection(_ other: Box) -> Float {
      Self.shared(top, bottom, other.top, other.bottom) * Self.shared(left, right, other.left, other.right)
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

  /// The boxes, in the order in which they were selected.
  let boxes: UnsafeMutablePointer<Box>
  private(set) var count = 0

  /// Memory for so many.
  static func byteCount(_ capacity: Int) -> Int { capacity * MemoryLayout<Box>.stride }

  /// None yet; the memory has ``byteCount(_:)`` bytes.
  init(_ memory: UnsafeMutableRawPointer, capacity: Int) {
    unsafe boxes = memory.bindMemory(to: Box.self, capacity: capacity)
  }

  /// Adds a box.
  mutating func append(_ box: Box) {
    unsafe (boxes + count).initialize(to: box)
    count &+= 1
  }
}
