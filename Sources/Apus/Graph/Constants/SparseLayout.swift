// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The positions of a sparse constant's stored values in the dense array.
struct SparseLayout {
  private struct Level {
    let format: DimensionEntry.Format
    /// The distance between neighbors along this level, in elements.
    let stride: Int
  }

  private let levels: [Level]

  /// Computes the strides of the levels of `sparsity`, outermost first, in a dense array; nil for a sparsity
  /// that no checked file contains.
  init?(_ sparsity: SparsityEntry, shape: [Int]) {
    let rank = shape.count
    var strides = [Int](repeating: 1, count: rank)
    for axis in shape.indices.dropLast().reversed() {
      let (stride, overflow) = strides[axis + 1].multipliedReportingOverflow(by: max(shape[axis + 1], 0))
      guard !overflow else { return nil }
      strides[axis] = stride
    }
    let order = sparsity.traversalOrder
    guard order.count == sparsity.dimensions.count, order.count == rank + sparsity.blockMap.count else {
      return nil
    }
    // If a dimension has several blocks, elements of the last one are adjacent.
    var blockStrides = [Int](repeating: 0, count: sparsity.blockMap.count)
    for (block, axis) in sparsity.blockMap.enumerated().reversed() {
      guard strides.indices.contains(axis), let level = order.firstIndex(of: rank + block),
        case .dense(let size) = sparsity.dimensions[level].format
      else { return nil }
      blockStrides[block] = strides[axis]
      let (stride, overflow) = strides[axis].multipliedReportingOverflow(by: size)
      guard !overflow else { return nil }
      strides[axis] = stride
    }
    let all = strides + blockStrides
    var levels: [Level] = []
    for (level, dimension) in sparsity.dimensions.enumerated() {
      guard all.indices.contains(order[level]) else { return nil }
      levels.append(Level(format: dimension.format, stride: all[order[level]]))
    }
    self.levels = levels
  }

  /// Copies stored values of `width` bytes to their positions. Returns false if an index is outside either
  /// array, or if there are more levels without values than honest files have.
  func expand(_ source: UnsafeRawBufferPointer, width: Int, into target: UnsafeMutableRawBufferPointer)
    -> Bool
  {
    if unsafe target.isEmpty { return unsafe source.isEmpty }
    var visitsLeft = (1 << 16) + 4 * (source.count + target.count)
    return unsafe expand(
      source, width: width, into: target, level: 0, parent: 0, offset: 0, &visitsLeft)
  }

  private func expand(
    _ source: UnsafeRawBufferPointer, width: Int, into target: UnsafeMutableRawBufferPointer, level: Int,
    parent: Int, offset: Int, _ visitsLeft: inout Int
  ) -> Bool {
    visitsLeft -= 1
    guard visitsLeft > 0 else { return false }
    guard level < levels.count else {
      let (from, to) = (parent &* width, offset &* width)
      guard from >= 0, from <= source.count - width, to >= 0, to <= target.count - width else { return false }
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[to..<to + width]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: source[from..<from + width]))
      return true
    }
    let stride = levels[level].stride
    switch levels[level].format {
    case .dense(let size):
      for index in 0..<max(size, 0) {
        let child = parent &* size &+ index
        guard
          unsafe expand(
            source, width: width, into: target, level: level + 1, parent: child,
            offset: offset &+ index &* stride, &visitsLeft)
        else { return false }
      }
    case .sparseCSR(let segments, let indices):
      guard segments.indices.contains(parent), segments.indices.contains(parent + 1) else { return false }
      let (first, last) = (segments[parent], segments[parent + 1])
      guard first >= 0, first <= last, last <= indices.count else { return false }
      for child in first..<last {
        guard
          unsafe expand(
            source, width: width, into: target, level: level + 1, parent: child,
            offset: offset &+ indices[child] &* stride, &visitsLeft)
        else { return false }
      }
    }
    return true
  }
}
