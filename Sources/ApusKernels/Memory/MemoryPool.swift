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
  }

  private let state = Mutex(State())
  private let expectedByteCount: Int
  /// The smallest region: address space only, until parts are given away.
  private static let leastRegion = 512 << 10

  /// - Parameter expectedByteCount: about how much will be asked for.
  package init(expectedByteCount: Int) { self.expectedByteCount = expectedByteCount }

  /// Zeroed memory that lives as long as the pool, aligned to 64 bytes.
  package func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    let byteCount = roundedUp(max(byteCount, 1), to: ZeroedMemory.alignment)
    return state.withLock { state in
      let region: ZeroedMemory
      if let last = state.regions.last, last.byteCount - state.used >= byteCount {
        region = last
      } else {
        // Address space costs nothing: enough that little is left over at a region's end.
        let next = max(2 * (expectedByteCount - state.total), state.total / 2, Self.leastRegion)
        region = ZeroedMemory(byteCount: max(byteCount, next), isReserved: true)
        state.regions.append(region)
        (state.used, state.ready) = (0, 0)
      }
      let start = state.used
      state.used += byteCount
      state.total += byteCount
      if state.used > state.ready {
        let rest = max(0, expectedByteCount - state.total)
        state.ready = region.prepare(state.ready..<state.used, expecting: rest)
      }
      return unsafe region.base + start
    }
  }
}
