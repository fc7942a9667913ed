// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Zeroed memory, aligned to a cache line, that lives as long as the object does.
///
/// All but a little comes from the system directly, zeroed already: in large pages where it has them and there is much of
/// it, and otherwise with its pages made at once, as the first touch of each would enter the kernel. Whoever
/// writes through ``base`` owns the object alone.
@safe package final class ZeroedMemory: @unchecked Sendable {
  /// The alignment of ``base``, in bytes.
  package static let alignment = 64
  /// From these numbers of bytes on, memory is mapped, and in large pages.
  private static let (leastMapped, leastLarge) = (128 << 10, 1 << 20)

  /// The first byte.
  package let base: UnsafeMutableRawPointer
  /// How many bytes there are; at least one.
  package let byteCount: Int
  /// What is given back to the system; nil where the memory is of the heap.
  private let mapping: UnsafeMutableRawBufferPointer?

  /// Memory that is used at once, or address space whose parts ``prepare(_:expecting:)`` makes ready; nil where the system
  /// refuses it. Less than 128 KiB comes from the heap, which ends the process instead.
  package init?(ifAvailable byteCount: Int, isReserved: Bool = false) {
    self.byteCount = max(byteCount, 1)
    guard byteCount >= Self.leastMapped else {
      unsafe mapping = nil
      unsafe base = .allocate(byteCount: self.byteCount, alignment: Self.alignment)
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: self.byteCount)
      return
    }
    guard let mapping = unsafe Self.map(byteCount), let start = mapping.baseAddress else { return nil }
    unsafe self.mapping = unsafe mapping
    unsafe base =
      unsafe byteCount < Self.leastLarge ? start : unsafe start.alignedUp(toMultipleOf: Pages.largeByteCount)
    if !isReserved { unsafe Self.advise(base, byteCount: byteCount) }
  }

  /// As above for programs that cannot go on without it: a refusal ends the process.
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

  /// Makes the pages of a part ready, large ones where they will be filled: by the part and by what is `expecting`
  /// to follow it, in bytes. Answers up to where they are.
  func prepare(_ part: Range<Int>, expecting rest: Int) -> Int {
    guard unsafe mapping != nil else { return byteCount }
    let large = Pages.largeByteCount
    var next = part.lowerBound
    while next < part.upperBound {
      let isFilled = part.upperBound - next + rest >= large * 5 / 8
      if next % large == 0, isFilled, byteCount >= Self.leastLarge {
        unsafe Self.advise(base + next, byteCount: large)
        next += large
      } else {
        // A page costs less among many; but what follows is only expected.
        let expected = part.upperBound + min(rest / 2, 128 << 10)
        let end = min(roundedUp(expected, to: 32 << 10), next / large * large + large)
        unsafe Pages.populate(base + next, byteCount: min(end, byteCount) - next)
        next = end
      }
    }
    return next
  }

  /// Maps room for `byteCount` bytes, from a large page's start on where they are many.
  private static func map(_ byteCount: Int) -> UnsafeMutableRawBufferPointer? {
    // Room to align the start, and to fill the last page.
    let margin = byteCount < leastLarge ? 0 : 2 * Pages.largeByteCount
    let (count, overflow) = byteCount.addingReportingOverflow(margin)
    guard !overflow, let memory = unsafe Pages.map(count) else { return nil }
    return unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
  }

  /// Asks for large pages, for the last one only where most of it is used, and makes all others at once.
  private static func advise(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      let page = Pages.largeByteCount
      let large = byteCount < leastLarge ? 0 : (byteCount + page / 4) / page * page
      if large > 0 { unsafe Pages.makeLarge(base, byteCount: large) }
      if large < byteCount { unsafe Pages.populate(base + large, byteCount: byteCount - large) }
    #endif
  }
}
