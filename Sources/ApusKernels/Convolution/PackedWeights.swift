// SPDX-License-Identifier: Apache-2.0

/// Weights and bias in the layout of one kernel, in 64-byte aligned memory.
///
/// Written only by `PreparedConvolution.pack`, before any run reads them; then shared freely.
package final class PackedWeights: @unchecked Sendable {
  /// The size of the packed layout.
  package let byteCount: Int
  let address: UnsafeMutableRawPointer
  /// What keeps the memory alive.
  private let owner: AnyObject

  /// Takes zeroed memory for `byteCount` bytes from a pool, or memory of its own.
  package init(byteCount: Int, pool: MemoryPool? = nil) {
    self.byteCount = byteCount
    if let pool {
      owner = pool
      unsafe address = pool.allocate(byteCount: max(byteCount, 64))
    } else {
      let memory = ZeroedMemory(byteCount: max(byteCount, 64))
      owner = memory
      unsafe address = memory.base
    }
  }
}
