// SPDX-License-Identifier: Apache-2.0

/// Pages of memory from the system.
package enum Pages {
  /// The size of a large page, and the alignment at which the system can make one.
  package static let largeByteCount = 2 << 20

  /// Address space for `byteCount` bytes, zero until they are written; nil where the system refuses it.
  package static func map(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    guard let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0),
      unsafe memory != MAP_FAILED
    else { return nil }
    return unsafe memory
  }

  /// Asks for large pages, where the system has them.
  package static func makeLarge(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      _ = unsafe madvise(base, byteCount, Int32(MADV_HUGEPAGE))
    #endif
  }

  /// Makes all pages of memory that is about to be written with one call, as the first touch of each would enter the kernel.
  package static func populate(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      let populateForWriting: Int32 = 23  // MADV_POPULATE_WRITE: Linux 5.14, not in every header.
      _ = unsafe madvise(base, byteCount, populateForWriting)
    #endif
  }
}
