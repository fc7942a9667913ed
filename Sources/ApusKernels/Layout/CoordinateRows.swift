// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// GATHER_ND and its inverses: slices of a tensor at rows of coordinates.
package struct CoordinateRows: Sendable {
  /// The number of rows of coordinates.
  package let count: Int
  /// The sizes of the axes that coordinates name.
  package let sizes: [Int]
  /// The strides of these axes, in bytes.
  package let strides: [Int]
  private let sliceByteCount: Int
  private let indexByteCount: Int

  /// Coordinates have 2, 4 or 8 bytes each.
  package init(count: Int, sizes: [Int], strides: [Int], sliceByteCount: Int, indexByteCount: Int) {
    precondition(sizes.count == strides.count)
    self.count = count
    self.sizes = sizes
    self.strides = strides
    self.sliceByteCount = sliceByteCount
    self.indexByteCount = indexByteCount
  }

  /// The offset of a row's slice; nil if it is outside the tensor.
  @inline(__always)
  private func offset(of row: Int, _ indices: RawSpan) -> Int? {
    var offset = 0
    for axis in sizes.indices {
      let index = indices.integer(at: row &* sizes.count &+ axis, byteCount: indexByteCount)
      guard index >= 0, index < sizes[axis] else { return nil }
      offset &+= index &* strides[axis]
    }
    return offset
  }

  /// Copies the slices to contiguous memory; returns the first row with coordinates outside the tensor, if
  /// any.
  package func gather(
    _ tensor: RawSpan, by indices: RawSpan, to slices: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int? {
    precondition(
      slices.byteCount >= count * sliceByteCount && indices.byteCount >= count * sizes.count * indexByteCount)
    return unsafe tensor.withUnsafeBytes { tensor in
      unsafe slices.withUnsafeMutableBytes { slices in
        var poll = StopPoll(threads)
        for row in 0..<count {
          if poll.mustStop(atTurn: row, of: count, steps: 4 &+ sliceByteCount / 16) { return nil }
          guard let offset = offset(of: row, indices), offset &+ sliceByteCount <= tensor.count,
            let from = tensor.baseAddress, let to = slices.baseAddress
          else { return row }
          unsafe copyRun(from + offset, to + row &* sliceByteCount, byteCount: sliceByteCount)
        }
        return nil
      }
    }
  }

  /// Adds slices to zeros at the coordinates; returns the first row with coordinates outside the tensor, if
  /// any.
  package func scatter(
    _ slices: RawSpan, by indices: RawSpan, adding elements: ScalarType,
    to tensor: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int? {
    precondition(
      slices.byteCount >= count * sliceByteCount && indices.byteCount >= count * sizes.count * indexByteCount)
    return unsafe slices.withUnsafeBytes { slices in
      unsafe tensor.withUnsafeMutableBytes { tensor in
        unsafe _ = tensor.initializeMemory(as: UInt8.self, repeating: 0)
        var poll = StopPoll(threads)
        for row in 0..<count {
          if poll.mustStop(atTurn: row, of: count, steps: 4 &+ sliceByteCount / 16) { return nil }
          guard let offset = offset(of: row, indices), offset &+ sliceByteCount <= tensor.count else {
            return row
          }
          guard let from = slices.baseAddress, let to = tensor.baseAddress else { return nil }
          unsafe add(from + row &* sliceByteCount, to: to + offset, elements)
        }
        return nil
      }
    }
  }

  /// Copies slices, or one slice for all, to the coordinates; returns the first row with coordinates outside
  /// the tensor, if any.
  package func put(
    _ slices: RawSpan, by indices: RawSpan, isOne: Bool, in tensor: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int? {
    precondition(
      slices.byteCount >= (isOne ? min(count, 1) : count) * sliceByteCount
        && indices.byteCount >= count * sizes.count * indexByteCount)
    return unsafe slices.withUnsafeBytes { slices in
      unsafe tensor.withUnsafeMutableBytes { tensor in
        var poll = StopPoll(threads)
        for row in 0..<count {
          if poll.mustStop(atTurn: row, of: count, steps: 4 &+ sliceByteCount / 16) { return nil }
          guard let offset = offset(of: row, indices), offset &+ sliceByteCount <= tensor.count else {
            return row
          }
          guard let from = slices.baseAddress, let to = tensor.baseAddress else { return nil }
          unsafe copyRun(from + (isOne ? 0 : row &* sliceByteCount), to + offset, byteCount: sliceByteCount)
        }
        return nil
      }
    }
  }

  private func add(
    _ source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, _ elements: ScalarType
  ) {
    switch elements {
    case .float32: unsafe combine(source, destination) { (lhs: Float, rhs: Float) in lhs + rhs }
    case .int32: unsafe combine(source, destination) { (lhs: Int32, rhs: Int32) in lhs &+ rhs }
    case .int64: unsafe combine(source, destination) { (lhs: Int64, rhs: Int64) in lhs &+ rhs }
    case .int16: unsafe combine(source, destination) { (lhs: Int16, rhs: Int16) in lhs &+ rhs }
    case .uint8, .int8: unsafe combine(source, destination) { (lhs: UInt8, rhs: UInt8) in lhs &+ rhs }
    case .bool: unsafe combine(source, destination) { (lhs: UInt8, rhs: UInt8) in lhs | rhs }
    default: elements.isNotTaken()
    }
  }

  @inline(__always)
  private func combine<T: BitwiseCopyable>(
    _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, _ operation: (T, T) -> T
  ) {
    let from = unsafe source.assumingMemoryBound(to: T.self)
    let to = unsafe destination.assumingMemoryBound(to: T.self)
    for index in 0..<sliceByteCount / MemoryLayout<T>.stride {
      unsafe to[index] = operation(to[index], from[index])
    }
  }
}
