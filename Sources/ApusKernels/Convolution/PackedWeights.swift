/// Weights and bias in the layout of one kernel, in 64-byte aligned memory of their own.
///
/// Written only by `PreparedConvolution.pack`, before any run reads them; then shared freely.
package final class PackedWeights: @unchecked Sendable {
  /// The size of the packed layout.
  package let byteCount: Int
  let address: UnsafeMutableRawPointer

  /// Allocates zeroed memory for `byteCount` bytes.
  package init(byteCount: Int) {
    self.byteCount = byteCount
    unsafe address = .allocate(byteCount: max(byteCount, 64), alignment: 64)
    unsafe address.initializeMemory(as: UInt8.self, repeating: 0, count: max(byteCount, 64))
  }

  deinit {
    unsafe address.deallocate()
  }
}
