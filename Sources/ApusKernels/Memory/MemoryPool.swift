import Synchronization

/// Zeroed memory in parts that are given back together: many small ones share large pages.
package final class MemoryPool: Sendable {
  private struct Piece: Sendable {
    let memory: ZeroedMemory
    /// Bytes that are given away.
    var used: Int
  }

  private let pieces = Mutex<[Piece]>([])
  private let expectedByteCount: Int

  /// - Parameter expectedByteCount: about how much will be asked for.
  package init(expectedByteCount: Int) { self.expectedByteCount = expectedByteCount }

  /// The size of the next piece: large pages while they are likely to be filled.
  private func nextByteCount(after pieces: [Piece]) -> Int {
    let rest = expectedByteCount - pieces.reduce(0) { $0 + $1.memory.byteCount }
    let largePage = 2 << 20
    if rest >= largePage * 3 / 4 { return max(rest / 4 / largePage, 1) * largePage }
    return min(max(expectedByteCount / 4, 128 << 10), 512 << 10)
  }

  /// Zeroed memory that lives as long as the pool, aligned to 64 bytes.
  package func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    let byteCount = roundedUp(max(byteCount, 1), to: ZeroedMemory.alignment)
    return pieces.withLock { pieces in
      if let index = pieces.firstIndex(where: { $0.memory.byteCount - $0.used >= byteCount }) {
        defer { pieces[index].used += byteCount }
        return unsafe pieces[index].memory.base + pieces[index].used
      }
      let memory = ZeroedMemory(byteCount: max(byteCount, nextByteCount(after: pieces)))
      pieces.append(Piece(memory: memory, used: byteCount))
      return memory.base
    }
  }
}
