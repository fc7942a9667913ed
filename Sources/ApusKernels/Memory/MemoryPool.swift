// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Zeroed memory in parts that are given back together: they lie side by side, in large pages where there are many.
package final class MemoryPool: Sendable {
  private struct State: Sendable {
    var regions: [ZeroedMemory] = []
    /// Bytes of the last region that are given away, and those whose pages are ready.
    var used = 0
    var ready = 0
    /// Bytes that are given away, of all regions.
    var total = 0
    /// What is lent, of a region that was the last then.
    var lent: (region: Int, bytes: Range<Int>)?

    /// How many bytes of the last region can be given away.
    var room: Int {
      guard let last = regions.last else { return 0 }
      if let lent, lent.region == regions.count - 1 { return lent.bytes.lowerBound - used }
      return last.byteCount - used
    }
  }

  private let state = Mutex(State())
  private let expectedByteCount: Int
  /// The smallest region: address space only, until parts are given away.
  private static let leastRegion = 512 << 10

  /// - Parameter expectedByteCount: about how much will be asked for.
  package init(expectedByteCount: Int) { self.expectedByteCount = expectedByteCount }

  /// Zeroed memory that lives as long as the pool, aligned to 64 bytes; nil where the system refuses it.
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

  /// Memory for a while: such as will be given away later, so that its pages cost nothing. Before it, `distance` bytes
  /// are left to be given away meanwhile. Nil where there is no room, or where somebody has such memory already.
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

  /// Zeroes what was lent; nobody uses it any more.
  package func takeBack() {
    state.withLock { state in
      guard let lent = state.lent else { return }
      let memory = unsafe state.regions[lent.region].base + lent.bytes.lowerBound
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: lent.bytes.count)
      state.lent = nil
    }
  }

  /// Address space costs nothing: enough that little is left over at a region's end. Where the system limits it, no more than
  /// is needed; false where there is not even that.
  private func addRegion(_ state: inout State, byteCount: Int) -> Bool {
    let next = max(2 * (expectedByteCount - state.total), state.total / 2, Self.leastRegion)
    guard
      let region = ZeroedMemory(ifAvailable: max(byteCount, next), isReserved: true)
        ?? ZeroedMemory(ifAvailable: byteCount, isReserved: true)
    else { return false }
    state.regions.append(region)
    (state.used, state.ready) = (0, 0)
    return true
  }

  /// Makes the last region's pages.
  private func prepare(_ state: inout State, upTo end: Int) {
    guard end > state.ready, let last = state.regions.last else { return }
    let rest = max(0, expectedByteCount - state.total - (end - state.used))
    state.ready = last.prepare(state.ready..<end, expecting: rest)
  }
}
