// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// StableHLO's SCATTER: combines blocks of updates with a tensor at vectors of coordinates; there are at most
/// eight axes.
package struct WindowScatter: Sendable {
  /// The role of one axis of the updates.
  package enum Role: Hashable, Sendable {
    /// The axis runs along an axis of the tensor.
    case window(axis: Int)
    /// The axis runs along an axis of the coordinates, with this stride in elements.
    case batch(stride: Int)
  }

  private let sizes: [Int]
  private let updates: [Int]
  private let roles: [Role]
  private let coordinates: [Int]
  private let coordinateStride: Int
  private let coordinateCount: Int
  private let isWide: Bool
  private let fold: ElementFold
  private let elements: ScalarType

  /// Describes a scatter.
  ///
  /// - Parameters:
  ///   - sizes: the sizes of the tensor.
  ///   - updates: the sizes of the updates, with a role for each axis.
  ///   - coordinates: the axis of the tensor for each coordinate of a vector.
  ///   - coordinateStride: elements from one coordinate of a vector to the next.
  ///   - coordinateCount: the number of coordinates in all vectors.
  ///   - isWide: whether coordinates have eight bytes; otherwise four.
  package init(
    sizes: [Int], updates: [Int], roles: [Role], coordinates: [Int], coordinateStride: Int,
    coordinateCount: Int,
    isWide: Bool, _ fold: ElementFold, _ elements: ScalarType
  ) {
    precondition(sizes.count <= 8 && updates.count <= 8 && roles.count == updates.count)
    self.sizes = sizes
    self.updates = updates
    self.roles = roles
    self.coordinates = coordinates
    self.coordinateStride = coordinateStride
    self.coordinateCount = coordinateCount
    self.isWide = isWide
    self.fold = elements == .bool ? fold.ofTruthValues : fold
    self.elements = elements
  }

  /// Combines in the order of the updates; updates outside the tensor have no effect.
  package func run(
    _ updates: RawSpan, at places: RawSpan, into tensor: inout MutableRawSpan, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    switch elements {
    case .float16: run(updates, places, &tensor, &poll, fold.halves())
    case .float32: run(updates, places, &tensor, &poll, fold.floats(Float.self))
    case .float64: run(updates, places, &tensor, &poll, fold.floats(Double.self))
    case .int8: run(updates, places, &tensor, &poll, fold.integers(Int8.self))
    case .uint8, .bool: run(updates, places, &tensor, &poll, fold.integers(UInt8.self))
    case .int16: run(updates, places, &tensor, &poll, fold.integers(Int16.self))
    case .uint16: run(updates, places, &tensor, &poll, fold.integers(UInt16.self))
    case .int32: run(updates, places, &tensor, &poll, fold.integers(Int32.self))
    case .uint32: run(updates, places, &tensor, &poll, fold.integers(UInt32.self))
    case .int64: run(updates, places, &tensor, &poll, fold.integers(Int64.self))
    case .uint64: run(updates, places, &tensor, &poll, fold.integers(UInt64.self))
    default: elements.isNotTaken()
    }
  }

  private func run<T: BitwiseCopyable>(
    _ values: RawSpan, _ places: RawSpan, _ tensor: inout MutableRawSpan, _ poll: inout StopPoll,
    _ fold: (T, T) -> T
  ) {
    let width = MemoryLayout<T>.stride
    // The product wraps only if some size is zero.
    let count = updates.reduce(1, &*)
    precondition(
      values.byteCount >= count * width && tensor.byteCount >= sizes.reduce(width, &*)
        && places.byteCount >= coordinateCount * (isWide ? 8 : 4))
    unsafe tensor.withUnsafeMutableBytes { tensor in
      var place = SIMD8<Int>.zero
      for source in 0..<count {
        if poll.mustStop(before: 16) { return }
        if let target = target(of: place, places) {
          let update = unsafe values.unsafeLoadUnaligned(fromByteOffset: source &* width, as: T.self)
          let old = unsafe tensor.loadUnaligned(fromByteOffset: target &* width, as: T.self)
          unsafe tensor.storeBytes(of: fold(old, update), toByteOffset: target &* width, as: T.self)
        }
        advance(&place)
      }
    }
  }

  /// The index of the element that an update modifies; nil if it is outside the tensor.
  private func target(of place: SIMD8<Int>, _ places: RawSpan) -> Int? {
    var position = SIMD8<Int>.zero
    var vector = 0
    for axis in roles.indices {
      switch roles[axis] {
      case .window(let target): position[target] = place[axis]
      case .batch(let stride): vector &+= place[axis] &* stride
      }
    }
    for (index, axis) in coordinates.enumerated() {
      position[axis] &+= places.integer(
        at: vector &+ index &* coordinateStride, byteCount: isWide ? 8 : 4)
    }
    var element = 0
    for axis in sizes.indices {
      guard position[axis] >= 0, position[axis] < sizes[axis] else { return nil }
      element = element &* sizes[axis] &+ position[axis]
    }
    return element
  }

  private func advance(_ place: inout SIMD8<Int>) {
    for axis in updates.indices.reversed() {
      place[axis] &+= 1
      if place[axis] < updates[axis] { return }
      place[axis] = 0
    }
  }
}
