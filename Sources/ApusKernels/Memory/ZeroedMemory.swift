#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Zeroed memory, aligned to a cache line, that lives as long as the object does.
///
/// All but a little comes from the system directly, zeroed already: in large pages where it has them and there is much of
/// it, and otherwise with its pages made at once, as the first touch of each would cost more than a microsecond. Whoever
/// writes through ``base`` owns the object alone.
package final class ZeroedMemory: @unchecked Sendable {
  /// The alignment of ``base``, in bytes.
  package static let alignment = 64
  /// From these numbers of bytes on, memory is mapped, and in large pages.
  private static let (leastMapped, leastLarge) = (128 << 10, 1 << 20)
  private static let largePageByteCount = 2 << 20

  /// The first byte.
  package let base: UnsafeMutableRawPointer
  /// How many bytes there are; at least one.
  package let byteCount: Int
  /// What is given back to the system; nil where the memory is of the heap.
  private let mapping: UnsafeMutableRawBufferPointer?

  /// Running out of memory here ends the process, as it does for every Swift array of this size.
  package init(byteCount: Int) {
    self.byteCount = max(byteCount, 1)
    if byteCount >= Self.leastMapped, let mapping = Self.map(byteCount), let start = mapping.baseAddress {
      self.mapping = mapping
      base =
        byteCount < Self.leastLarge ? start : unsafe start.alignedUp(toMultipleOf: Self.largePageByteCount)
      Self.advise(base, byteCount: byteCount)
    } else {
      mapping = nil
      unsafe base = .allocate(byteCount: self.byteCount, alignment: Self.alignment)
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: self.byteCount)
    }
  }

  deinit {
    if let mapping {
      munmap(mapping.baseAddress, mapping.count)
    } else {
      unsafe base.deallocate()
    }
  }

  /// Maps room for `byteCount` bytes, from a large page's start on where they are many.
  private static func map(_ byteCount: Int) -> UnsafeMutableRawBufferPointer? {
    let (count, overflow) = byteCount.addingReportingOverflow(byteCount < leastLarge ? 0 : largePageByteCount)
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
    #endif
    guard !overflow, let memory = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED
    else { return nil }
    return UnsafeMutableRawBufferPointer(start: memory, count: count)
  }

  /// Asks for large pages, for the last one only where at least half of it is used; or for all pages at once.
  private static func advise(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      if byteCount < leastLarge {
        let populateForWriting: Int32 = 23  // MADV_POPULATE_WRITE: Linux 5.14, not in every header.
        _ = madvise(base, byteCount, populateForWriting)
      } else {
        let pages = (byteCount + largePageByteCount / 2) / largePageByteCount
        _ = madvise(base, pages * largePageByteCount, Int32(MADV_HUGEPAGE))
      }
    #endif
  }
}
