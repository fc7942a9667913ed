// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Zeroed memory, aligned to a cache line, that lives as long as the object does.
///
/// Larger sizes are mapped, already zeroed, from the system: in large pages if the size suffices and the
/// system has them. Otherwise all pages are made ready at once, because the first touch of each would enter
/// the kernel. Code that writes through ``base`` must be the only owner.
@safe package final class ZeroedMemory: @unchecked Sendable {
  /// The alignment of ``base``, in bytes.
  package static let alignment = 64
  /// The sizes from which on memory is mapped, and uses large pages.
  private static let (minimumMapped, minimumLarge) = (128 << 10, 1 << 20)

  /// The first byte.
  package let base: UnsafeMutableRawPointer
  /// The size in bytes, at least 1.
  package let byteCount: Int
  /// The mapping to unmap in the end; nil if the memory is from the heap.
  private let mapping: UnsafeMutableRawBufferPointer?

  /// Memory that is ready to use; or, if `isReserved`, address space whose parts ``prepare(_:expecting:)``
  /// makes ready. nil if the system refuses it. Less than 128 KiB comes from the heap, which ends the process
  /// instead.
  package init?(ifAvailable byteCount: Int, isReserved: Bool = false) {
    self.byteCount = max(byteCount, 1)
    guard byteCount >= Self.minimumMapped else {
      unsafe mapping = nil
      unsafe base = .allocate(byteCount: self.byteCount, alignment: Self.alignment)
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: self.byteCount)
      return
    }
    guard let mapping = unsafe Self.map(byteCount), let start = mapping.baseAddress else { return nil }
    unsafe self.mapping = unsafe mapping
    unsafe base =
      unsafe byteCount < Self.minimumLarge
      ? start : unsafe start.alignedUp(toMultipleOf: Pages.largeByteCount)
    if !isReserved { unsafe Self.advise(base, byteCount: byteCount) }
  }

  /// Memory for programs that cannot go on without it: if the system refuses it, the process ends.
  package convenience init(byteCount: Int) {
    self.init(ifAvailable: byteCount)!
  }

  deinit {
    if let mapping = unsafe mapping {
      unsafe munmap(mapping.baseAddress, mapping.count)
    } else {
      unsafe base.deallocate()
    }
  }

  /// Makes the pages of a part ready; large ones where the part, and `expecting` bytes after it, will fill
  /// them. Returns the end of the ready pages.
  func prepare(_ part: Range<Int>, expecting rest: Int) -> Int {
    guard unsafe mapping != nil else { return byteCount }
    let large = Pages.largeByteCount
    var next = part.lowerBound
    while next < part.upperBound {
      let isFilled = part.upperBound - next + rest >= large * 5 / 8
      if next % large == 0, isFilled, byteCount >= Self.minimumLarge {
        unsafe Self.advise(base + next, byteCount: large)
        next += large
      } else {
        // Pages are cheaper in bulk, but the bytes after the part are only expected.
        let expected = part.upperBound + min(rest / 2, 128 << 10)
        let end = min(roundedUp(expected, to: 32 << 10), next / large * large + large)
        unsafe Pages.populate(base + next, byteCount: min(end, byteCount) - next)
        next = end
      }
    }
    return next
  }

  /// Maps `byteCount` bytes, aligned to a large page if they are many.
  private static func map(_ byteCount: Int) -> UnsafeMutableRawBufferPointer? {
    // Room to align the start, and to fill the last page.
    let margin = byteCount < minimumLarge ? 0 : 2 * Pages.largeByteCount
    let (count, overflow) = byteCount.addingReportingOverflow(margin)
    guard !overflow, let memory = unsafe Pages.map(count) else { return nil }
    return unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
  }

  /// Asks for large pages, for the last one only if most of it is used, and makes all others ready.
  private static func advise(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      let page = Pages.largeByteCount
      let large = byteCount < minimumLarge ? 0 : (byteCount + page / 4) / page * page
      if large > 0 { unsafe Pages.makeLarge(base, byteCount: large) }
      if large < byteCount { unsafe Pages.populate(base + large, byteCount: byteCount - large) }
    #endif
  }
}
