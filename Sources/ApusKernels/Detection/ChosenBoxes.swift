// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The boxes that a selection has chosen, stored by edges, so that a candidate is compared with four of them
/// at a time.
@safe struct ChosenBoxes {
  private typealias Lanes = SIMD4<Float>

  /// The edges and the area of each box, and its label: `-1` for none.
  private let yMin, xMin, yMax, xMax, area: UnsafeMutablePointer<Float>
  private let labels: UnsafeMutablePointer<Int32>
  /// The room for boxes, a multiple of four.
  private let stride: Int

  /// The 32-bit elements that `capacity` boxes need.
  static func elementCount(_ capacity: Int) -> Int { 6 * roundedUp(capacity, to: Lanes.scalarCount) }

  /// Uses memory for `capacity` boxes, ``elementCount(_:)`` floats; ``removeAll()`` initializes it.
  init(_ memory: UnsafeMutablePointer<Float>, _ capacity: Int) {
    stride = roundedUp(capacity, to: Lanes.scalarCount)
    unsafe (yMin, xMin) = (memory, memory + stride)
    unsafe (yMax, xMax) = (memory + 2 * stride, memory + 3 * stride)
    unsafe area = memory + 4 * stride
    unsafe labels = UnsafeMutableRawPointer(memory + 5 * stride).bindMemory(to: Int32.self, capacity: stride)
  }

  /// Removes all boxes.
  func removeAll() { unsafe labels.update(repeating: -1, count: stride) }

  /// Chooses a box with a label, which is not negative.
  func set(_ index: Int, _ box: DetectionBox, label: Int32) {
    unsafe (yMin[index], xMin[index], yMax[index], xMax[index]) = (box.top, box.left, box.bottom, box.right)
    unsafe area[index] = box.area
    unsafe labels[index] = label
  }

  /// Whether one of the first `count` boxes has the label and an intersection over union with `box` of more
  /// than `limit`, which is positive.
  ///
  /// Operations and their order are the reference's, so that the comparison agrees to the last bit, even if a
  /// coordinate is NaN.
  @inline(__always)
  func hasOverlap(above limit: Float, with box: DetectionBox, label: Int32, count: Int) -> Bool {
    let otherArea = box.area
    if otherArea <= 0 { return false }
    let (top, left) = (Lanes(repeating: box.top), Lanes(repeating: box.left))
    let (bottom, right) = (Lanes(repeating: box.bottom), Lanes(repeating: box.right))
    var index = 0
    while index < count {
      let (tops, lefts) = unsafe (lanes(yMin, index), lanes(xMin, index))
      let (bottoms, rights) = unsafe (lanes(yMax, index), lanes(xMax, index))
      // Comparisons with NaN are false: nothing is apart from it.
      let isApart =
        ((bottoms .<= top) .| (bottom .<= tops)) .| ((rights .<= left) .| (right .<= lefts))
      let others = unsafe UnsafeRawPointer(labels + index).loadUnaligned(as: SIMD4<Int32>.self)
      let mayOverlap = .!isApart .& (others .== SIMD4(repeating: label))
      if mayOverlap.isSomewhereSet {
        let height = Self.least(bottoms, bottom) - Self.greatest(tops, top)
        let width = Self.least(rights, right) - Self.greatest(lefts, left)
        let intersection = Self.greatest(height, Lanes()) * Self.greatest(width, Lanes())
        let areas = unsafe lanes(area, index)
        let overlap = intersection / (areas + Lanes(repeating: otherArea) - intersection)
        let isAbove = (overlap .> Lanes(repeating: limit)) .& .!(areas .<= Lanes())
        if (isAbove .& mayOverlap).isSomewhereSet { return true }
      }
      index &+= Lanes.scalarCount
    }
    return false
  }

  @inline(__always)
  private func lanes(_ values: UnsafeMutablePointer<Float>, _ index: Int) -> Lanes {
    unsafe UnsafeRawPointer(values + index).loadUnaligned(as: Lanes.self)
  }

  @inline(__always)
  private static func greatest(_ a: Lanes, _ b: Lanes) -> Lanes { a.replacing(with: b, where: a .< b) }

  @inline(__always)
  private static func least(_ a: Lanes, _ b: Lanes) -> Lanes { a.replacing(with: b, where: b .< a) }
}
