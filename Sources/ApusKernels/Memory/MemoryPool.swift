import Synchronization

/// Zeroed memory in parts that are given back together: many small ones share large pages.
package final class MemoryPool: Sendable {
  private struct Piece: Sendable {
    let memory: ZeroedMemory
    /// Bytes that are given away.
    var used: Int
  }

  private let pieces = Mutex<[Piece]>([])
  private let pieceByteCount: Int

  /// - Parameter expectedByteCount: about how much will be asked for.
  package init(expectedByteCount: Int) {
    let largePages = min(max(expectedByteCount / (8 << 20), 1), 8)
    pieceByteCount = expectedByteCount < 1 << 20 ? 128 << 10 : largePages * (2 << 20)
  }

  /// Zeroed memory that lives as long as the pool, aligned to 64 bytes.
  package func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    let byteCount = roundedUp(max(byteCount, 1), to: ZeroedMemory.alignment)
    return pieces.withLock { pieces in
      if let index = pieces.firstIndex(where: { $0.memory.byteCount - $0.used >= byteCount }) {
        defer { pieces[index].used += byteCount }
        return unsafe pieces[index].memory.base + pieces[index].used
      }
      let memory = ZeroedMemory(byteCount: max(byteCount, pieceByteCount))
      pieces.append(Piece(memory: memory, used: byteCount))
      return memory.base
    }
  }
}
