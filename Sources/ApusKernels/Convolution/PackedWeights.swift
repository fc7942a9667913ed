// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Weights and bias in the layout of one kernel, in 64-byte aligned memory.
///
/// Written only by `PreparedConvolution.pack`, before any run reads them; then shared freely.
@safe package final class PackedWeights: @unchecked Sendable {
  /// The size of the packed layout.
  package let byteCount: Int
  /// The first byte.
  package let address: UnsafeMutableRawPointer
  /// The owner of the memory.
  private let owner: AnyObject
  /// Ends packing early. Weights that were packed in part are never read, but contain no place that is out of bounds.
  ///
  /// Only the code that packs sets it.
  package var stopSignal: StopSignal?

  /// Takes zeroed memory from a pool, or its own; nil if the system refuses it.
  package init?(ifAvailable byteCount: Int, pool: MemoryPool? = nil) {
    self.byteCount = byteCount
    if let pool {
      guard let memory = unsafe pool.allocate(byteCount: max(byteCount, 64)) else { return nil }
      owner = pool
      unsafe address = memory
    } else {
      guard let memory = ZeroedMemory(ifAvailable: max(byteCount, 64)) else { return nil }
      owner = memory
      unsafe address = memory.base
    }
  }

  /// Whether packing must end. Ask after at least some ten thousand weights: this may read the clock.
  package var mustStop: Bool { stopSignal?.mustStop ?? false }

  /// Takes zeroed memory, for programs that cannot go on without it: if the system refuses it, the process
  /// ends.
  package convenience init(byteCount: Int) {
    self.init(ifAvailable: byteCount)!
  }
}
