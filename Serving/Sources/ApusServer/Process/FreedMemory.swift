// SPDX-License-Identifier: Apache-2.0
import NIOCore

#if canImport(Glibc)
  import CAllocator
#endif

/// How the allocator treats memory that a request has given back.
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

  /// How often it is looked at whether much memory is kept for nothing, and how much that is.
  private static let period = TimeAmount.seconds(10)
  private static let much = 256 << 20

  /// Gives memory back to the system after many large requests: each of the allocator's arenas would keep what they took.
  static func giveBack(after admission: Admission, on loop: any EventLoop) {
    loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
      let usage = admission.usage()
      guard usage.highest > much, usage.now < usage.highest / 4 else { return }
      BlockingThread.run {
        #if canImport(Glibc)
          malloc_trim(0)
        #endif
      }
    }
  }
}
