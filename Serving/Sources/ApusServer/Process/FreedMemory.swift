// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import CAllocator
#endif

/// What the allocator does with memory that a request has given back.
enum FreedMemory {
  /// Keeps the memory of a request for the next one.
  ///
  /// By default glibc gives each block of more than 128 KiB back to the system, and the next picture pays for new pages.
  static func keep() {
    #if canImport(Glibc)
      // The largest threshold that glibc accepts.
      mallopt(M_MMAP_THRESHOLD, 32 << 20)
      mallopt(M_TRIM_THRESHOLD, 128 << 20)
    #endif
  }
}
