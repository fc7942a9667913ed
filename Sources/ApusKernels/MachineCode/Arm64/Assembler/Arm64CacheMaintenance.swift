// SPDX-License-Identifier: Apache-2.0

/// Makes instruction caches see code that was written as data, as arm64 asks for.
///
/// Linux does this itself when a page first becomes executable, which is what the code below relies on to run at all; what
/// is placed after it is not left to that.
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
    // Four bits each have the logarithms of the smallest lines' sizes, in words.
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
