// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Selected boxes, stored by edges and areas for comparisons.
@safe struct SelectedBoxes {
  /// Edges and areas of the boxes, in the order in which they were selected: all tops, and so on.
  private let values: UnsafeMutablePointer<Float>
  private let capacity: Int
  private(set) var count = 0

  /// The size of the memory for `capacity` boxes.
  static func byteCount(_ capacity: Int) -> Int {
    5 * roundedUp(capacity, to: 8) * MemoryLayout<Float>.stride
  }

  /// Creates an empty list in memory of ``byteCount(_:)`` bytes.
  init(_ memory: UnsafeMutableRawPointer, capacity: Int) {
    self.capacity = roundedUp(capacity, to: 8)
    unsafe values = memory.bindMemory(to: Float.self, capacity: 5 * self.capacity)
  }

  /// Adds a box.
  mutating func append(_ box: DetectionBox) {
    // Vectors reach beyond the boxes.
    if count.isMultiple(of: 8) {
      for value in 0..<5 { unsafe (values + (value &* capacity &+ count)).initialize(repeating: 0, count: 8) }
    }
    unsafe values[count] = box.top
    unsafe values[capacity &+ count] = box.left
    unsafe values[2 &* capacity &+ count] = box.bottom
    unsafe values[3 &* capacity &+ count] = box.right
    unsafe values[4 &* capacity &+ count] = box.area
    count &+= 1
  }

  /// A box by its index.
  subscript(place: Int) -> DetectionBox {
    unsafe DetectionBox(
      top: values[place], left: values[capacity &+ place], bottom: values[2 &* capacity &+ place],
      right: values[3 &* capacity &+ place], area: values[4 &* capacity &+ place])
  }

  /// Whether a box from index `first` on overlaps the candidate by at least `limit`, which is positive.
  ///
  /// Eight are compared at once, the last first. Starting before `first` makes no difference: earlier boxes
  /// did not overlap either.
  func contains(from first: Int, overlapping candidate: DetectionBox, by limit: Float) -> Bool {
    // Quotients that are rounded up to the limit come from products beyond this.
    let bound = SIMD8(repeating: limit * (1 - 0x1p-20))
    var place = roundedUp(count, to: 8)
    while place > first {
      place &-= 8
      let heights = shared(candidate.top, candidate.bottom, tops: 0, bottoms: 2, at: place)
      let widths = shared(candidate.left, candidate.right, tops: 1, bottoms: 3, at: place)
      let intersections = heights * widths
      let products = (vector(4, at: place) + candidate.area - intersections) * bound
      // Subnormal products have larger errors.
      guard any(intersections .>= products .| products .< 0x1p-100) else { continue }
      for other in place..<min(place &+ 8, count) where candidate.overlap(self[other]) >= limit {
        return true
      }
    }
    return false
  }

  /// The lengths that eight boxes share with the candidate in one direction.
  @inline(__always)
  private func shared(_ start: Float, _ end: Float, tops: Int, bottoms: Int, at place: Int) -> SIMD8<Float> {
    var last = SIMD8(repeating: end)
    var first = vector(tops, at: place)
    let ends = vector(bottoms, at: place)
    last.replace(with: ends, where: ends .< last)
    first.replace(with: SIMD8(repeating: start), where: first .< start)
    var lengths = last - first
    lengths.replace(with: 0, where: lengths .< 0)
    return lengths
  }

  @inline(__always)
  private func vector(_ edge: Int, at place: Int) -> SIMD8<Float> {
    unsafe UnsafeRawPointer(values + (edge &* capacity &+ place)).loadUnaligned(as: SIMD8<Float>.self)
  }
}
