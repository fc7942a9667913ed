// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Zeroed memory in parts that are freed together. They are contiguous, in large pages if there are many.
package final class MemoryPool: Sendable {
  private struct State: Sendable {
    var regions: [ZeroedMemory] = []
    /// Allocated bytes of the last region, and bytes whose pages are ready.
    var used = 0
    var ready = 0
    /// Allocated bytes of all regions.
    var total = 0
    /// The lent range of bytes, in the region that was last then.
    var lent: (region: Int, bytes: Range<Int>)?

    /// The bytes left in the last region.
    var room: Int {
      guard let last = regions.last else { return 0 }
      if let lent, lent.region == regions.count - 1 { return lent.bytes.lowerBound - used }
      return last.byteCount - used
    }
  }

  private let state = Mutex(State())
  private let expectedByteCount: Int
  /// The minimum size of a region, which is address space until parts are allocated.
  private static let minimumRegion = 512 << 10

  /// - Parameter expectedByteCount: the estimated total.
  package init(expectedByteCount: Int) { self.expectedByteCount = expectedByteCount }

  /// Allocates zeroed memory that lives as long as the pool, aligned to 64 bytes; nil if the system refuses
  /// it.
  package func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
    let byteCount = roundedUp(max(byteCount, 1), to: ZeroedMemory.alignment)
    return unsafe state.withLock { state in
      if state.room < byteCount, !addRegion(&state, byteCount: byteCount) { return nil }
      let start = state.used
      state.used += byteCount
      state.total += byteCount
      prepare(&state, upTo: state.used)
      return unsafe state.regions[state.regions.count - 1].base + start
    }
  }

  /// Lends memory for a while: a range that will be allocated later, so that its pages cost nothing. The
  /// `distance` bytes before it stay available meanwhile. nil if there is no room, or some memory is lent
  /// already.
  package func lend(byteCount: Int, distance: Int) -> UnsafeMutableRawPointer? {
    unsafe state.withLock { state in
      guard state.lent == nil, byteCount > 0 else { return nil }
      if state.regions.isEmpty, !addRegion(&state, byteCount: 1) { return nil }
      guard let last = state.regions.last, 0...last.byteCount - state.used ~= distance else { return nil }
      let start = state.used + roundedUp(distance, to: ZeroedMemory.alignment)
      guard byteCount <= last.byteCount - start else { return nil }
      state.lent = (state.regions.count - 1, start..<start + byteCount)
      prepare(&state, upTo: start + byteCount)
      return unsafe last.base + start
    }
  }

  /// Ends the loan and zeroes the memory, which must not be used any more.
  package func takeBack() {
    state.withLock { state in
      guard let lent = state.lent else { return }
      let memory = unsafe state.regions[lent.region].base + lent.bytes.lowerBound
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: lent.bytes.count)
      state.lent = nil
    }
  }

  /// Adds a region with enough address space, which is free, to waste little at its end. If the system limits
  /// address space, no more than needed; false if even that is refused.
  private func addRegion(_ state: inout State, byteCount: Int) -> Bool {
    let next = max(2 * (expectedByteCount - state.total), state.total / 2, Self.minimumRegion)
    guard
      let region = ZeroedMemory(ifAvailable: max(byteCount, next), isReserved: true)
        ?? ZeroedMemory(ifAvailable: byteCount, isReserved: true)
    else { return false }
    state.regions.append(region)
    (state.used, state.ready) = (0, 0)
    return true
  }

  /// Makes the last region's pages ready up to `end`.
  private func prepare(_ state: inout State, upTo end: Int) {
    guard end > state.ready, let last = state.regions.last else { return }
    let rest = max(0, expectedByteCount - state.total - (end - state.used))
    state.ready = last.prepare(state.ready..<end, expecting: rest)
  }
}
