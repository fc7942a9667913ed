// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// TOPK: the largest values of each row, in order; the first of equal values comes first.
package struct Selection: Sendable {
  private let elements: ScalarType
  private let rows: Int
  private let length: Int
  private let count: Int
  private let placeByteCount: Int

  /// Describes the selection of `count` of `length` values in each row; indices have 4 or 2 bytes.
  package init(_ elements: ScalarType, rows: Int, length: Int, count: Int, placeByteCount: Int) {
    precondition(count > 0 && count <= length)
    self.elements = elements
    self.rows = rows
    self.length = length
    self.count = count
    self.placeByteCount = placeByteCount
  }

  /// Selects; `heap` has four bytes for each selected value of a row.
  package func run(
    _ input: RawSpan, values: inout MutableRawSpan, places: inout MutableRawSpan,
    heap: inout MutableRawSpan, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    switch elements {
    case .float32:
      run(input, &values, &places, &heap, &poll) { (lhs: Float, rhs: Float) in
        lhs > rhs || rhs.isNaN && !lhs.isNaN
      }
    case .int32: run(input, &values, &places, &heap, &poll) { (lhs: Int32, rhs: Int32) in lhs > rhs }
    case .int64: run(input, &values, &places, &heap, &poll) { (lhs: Int64, rhs: Int64) in lhs > rhs }
    case .uint8, .bool: run(input, &values, &places, &heap, &poll) { (lhs: UInt8, rhs: UInt8) in lhs > rhs }
    case .int8: run(input, &values, &places, &heap, &poll) { (lhs: Int8, rhs: Int8) in lhs > rhs }
    case .int16: run(input, &values, &places, &heap, &poll) { (lhs: Int16, rhs: Int16) in lhs > rhs }
    default: elements.isNotTaken()
    }
  }

  @inline(__always)
  private func run<T: BitwiseCopyable>(
    _ input: RawSpan, _ values: inout MutableRawSpan, _ places: inout MutableRawSpan,
    _ heap: inout MutableRawSpan, _ poll: inout StopPoll,
    _ isGreater: (T, T) -> Bool
  ) {
    let width = MemoryLayout<T>.stride
    precondition(
      input.byteCount >= rows * length * width && values.byteCount >= rows * count * width
        && places.byteCount >= rows * count * placeByteCount && heap.byteCount >= count * 4)
    unsafe input.withUnsafeBytes { input in
      unsafe heap.withUnsafeMutableBytes { heap in
        guard let memory = heap.baseAddress else { return }
        for row in 0..<rows {
          if poll.mustStop(before: length) { return }
          guard let base = input.baseAddress else { return }
          let line = unsafe (base + row &* length &* width).assumingMemoryBound(to: T.self)
          let chosen = unsafe memory.assumingMemoryBound(to: Int32.self)
          /// Whether one index comes before another.
          func precedes(_ lhs: Int32, _ rhs: Int32) -> Bool {
            let (first, second) = unsafe (line[Int(lhs)], line[Int(rhs)])
            return isGreater(first, second) || !isGreater(second, first) && lhs < rhs
          }
          unsafe select(chosen, &poll, precedes)
          for place in 0..<count {
            // The values lie anywhere in the row.
            if place & 0xFFF == 0, poll.mustStop(before: min(count &- place, 1 << 12) &* 16) { return }
            let index = unsafe chosen[place]
            let position = row &* count &+ place
            unsafe values.storeBytes(of: line[Int(index)], toByteOffset: position &* width, as: T.self)
            if placeByteCount == 4 {
              places.storeBytes(of: index, toByteOffset: position &* 4, as: Int32.self)
            } else {
              places.storeBytes(
                of: Int16(truncatingIfNeeded: index), toByteOffset: position &* 2, as: Int16.self)
            }
          }
        }
      }
    }
  }

  /// Leaves the first `count` indices in order: a heap with the last of them at its root, then sorted. If the
  /// run must end, the indices are arbitrary but valid.
  @inline(__always)
  private func select(
    _ heap: UnsafeMutablePointer<Int32>, _ poll: inout StopPoll, _ precedes: (Int32, Int32) -> Bool
  ) {
    let depth = Int.bitWidth - count.leadingZeroBitCount
    /// Moves an index down the heap until both of its children precede it.
    func sink(_ place: Int32, from root: Int, size: Int) {
      var parent = root
      while true {
        var child = 2 &* parent &+ 1
        guard child < size else { break }
        if child &+ 1 < size, unsafe precedes(heap[child], heap[child &+ 1]) { child &+= 1 }
        guard unsafe precedes(place, heap[child]) else { break }
        unsafe heap[parent] = heap[child]
        parent = child
      }
      unsafe heap[parent] = place
    }
    for index in 0..<count {
      if index & 0xFFFF == 0, poll.mustStop(before: min(count &- index, 1 << 16)) { return }
      unsafe heap[index] = Int32(truncatingIfNeeded: index)
    }
    for root in (0..<count / 2).reversed() {
      if poll.mustStop(before: 4) { return }
      unsafe sink(heap[root], from: root, size: count)
    }
    for index in count..<length {
      if index & 0xFFFF == 0, poll.mustStop(before: 1 << 16) { return }
      let place = Int32(truncatingIfNeeded: index)
      if unsafe precedes(place, heap[0]) {
        if poll.mustStop(before: 4 &* depth) { return }
        sink(place, from: 0, size: count)
      }
    }
    for end in (1..<count).reversed() {
      if poll.mustStop(before: 4 &* depth) { return }
      let last = unsafe heap[end]
      unsafe heap[end] = heap[0]
      sink(last, from: 0, size: end)
    }
  }
}
