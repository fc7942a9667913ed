// SPDX-License-Identifier: Apache-2.0

/// Makes newly written code visible to instruction caches, which arm64 requires. Linux does so itself when a
/// page first becomes executable, and this function's own code relies on that; code that is placed later
/// relies on this function.
package enum Arm64CacheMaintenance {
  @safe private struct UnsafeAddress: @unchecked Sendable {
    let address: UnsafeRawPointer?
  }

  private static let function = unsafe UnsafeAddress(
    address: code.flatMap { unsafe ExecutableMemory.place($0, synchronizes: false) })

  /// Writes data caches back and empties instruction caches, for these bytes.
  static func synchronize(_ start: UnsafeRawPointer, byteCount: Int) {
    typealias Function = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> Void
    guard let address = unsafe function.address else { return }
    unsafe unsafeBitCast(address, to: Function.self)(start, start + byteCount)
  }

  /// The code of `void f(const void *start, const void *end)`.
  package static var code: [UInt8]? {
    var a = Arm64Assembler()
    a.readCacheType(.x2)
    a.move(.x3, 4)
    // Two fields of four bits: the binary logarithms of the smallest lines' sizes, in 32-bit words.
    for (lowest, isData) in [(16, true), (0, false)] {
      a.extractBits(.x4, .x2, lowest: lowest, count: 4)
      a.shiftLeft(.x4, .x3, .x4)
      a.subtractSettingFlags(.x5, .x4, 1)
      a.clearBits(.x5, .x0, .x5)
      let next = a.placeLabel()
      if isData { a.cleanData(.x5) } else { a.invalidateInstructions(.x5) }
      a.add(.x5, .x5, .x4)
      a.compare(.x5, .x1)
      a.branch(.below, next)
      a.synchronizeData()
    }
    a.synchronizeInstructions()
    a.return()
    return a.finish()
  }
}
