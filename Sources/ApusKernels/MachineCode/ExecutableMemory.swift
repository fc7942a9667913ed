import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Process-wide pages that hold generated code: written once, then sealed, never unmapped.
///
/// No page is ever writable and executable at once. Where changing a page's protection is refused, a memory file
/// mapped for execution is tried; where that is refused too, the caller falls back to portable kernels.
package enum ExecutableMemory {
  /// Code beyond this many bytes is refused.
  package static let byteLimit = 64 << 20

  private static let used = Mutex(0)

  /// Writable pages that are still to be given out, zero or more.
  private struct FreshPages: @unchecked Sendable {
    // @unchecked: whoever holds the lock takes pages, which are then theirs.
    var address: UnsafeMutableRawPointer?
    var byteCount = 0
  }
  private static let freshPages = Mutex(FreshPages())
  /// Pages are asked for this many bytes at a time: a call to the system for each function would take as long as to
  /// write the function.
  private static let freshByteCount = 32 << 10

  /// Places code in executable memory for the life of the process.
  ///
  /// On arm64 the instruction cache is told, unless `synchronizes` is false: for the very code that tells it.
  ///
  /// - Returns: the address of its first byte; nil where the system refuses.
  package static func place(_ code: [UInt8], synchronizes: Bool = true) -> UnsafeRawPointer? {
    guard !code.isEmpty else { return nil }
    let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard pageByteCount > 0 else { return nil }
    let byteCount = (code.count + pageByteCount - 1) / pageByteCount * pageByteCount
    let isAllowed = used.withLock { used in
      guard used + byteCount <= byteLimit else { return false }
      used += byteCount
      return true
    }
    guard isAllowed else { return nil }
    if let place = byProtection(code, byteCount) ?? placeInMemoryFile(code, byteCount: byteCount) {
      #if arch(arm64) && !canImport(Darwin)
        if synchronizes { Arm64CacheMaintenance.synchronize(place, byteCount: code.count) }
      #endif
      return place
    }
    used.withLock { $0 -= byteCount }
    return nil
  }

  /// Writes to fresh pages, then makes them executable instead of writable.
  private static func byProtection(_ code: [UInt8], _ byteCount: Int) -> UnsafeRawPointer? {
    #if os(iOS)
      return nil  // Pages made at run time cannot be executed there.
    #elseif os(macOS) && arch(arm64)
      return inWriteProtectedPages(code, byteCount)
    #else
      guard let pages = takeFreshPages(byteCount) else { return nil }
      pages.copyMemory(from: code, byteCount: code.count)
      guard mprotect(pages, byteCount, PROT_READ | PROT_EXEC) == 0 else {
        munmap(pages, byteCount)
        return nil
      }
      return UnsafeRawPointer(pages)
    #endif
  }

  /// Writable pages that nobody else has; `byteCount` is a multiple of the page's size.
  private static func takeFreshPages(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let address = freshPages.withLock { fresh -> Int? in
      if fresh.byteCount < byteCount {
        var flags = MAP_PRIVATE | anonymousMapping
        #if canImport(Darwin)
          flags |= MAP_JIT
        #else
          flags |= MAP_POPULATE
        #endif
        let asked = max(byteCount, freshByteCount)
        guard let pages = mmap(nil, asked, PROT_READ | PROT_WRITE, flags, -1, 0), pages != MAP_FAILED else {
          return nil
        }
        if let rest = fresh.address, fresh.byteCount > 0 { munmap(rest, fresh.byteCount) }
        fresh = FreshPages(address: pages, byteCount: asked)
      }
      let taken = fresh.address
      fresh.address = taken.map { $0 + byteCount }
      fresh.byteCount -= byteCount
      return taken.map { Int(bitPattern: $0) }
    }
    return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
  }

  #if os(macOS) && arch(arm64)
    /// Writes to pages that are writable or executable for each thread apart, never both for one.
    private static func inWriteProtectedPages(_ code: [UInt8], _ byteCount: Int) -> UnsafeRawPointer? {
      // Looked up by name: the SDK's modules do not all show them.
      typealias Protect = @convention(c) (Int32) -> Void
      typealias Invalidate = @convention(c) (UnsafeMutableRawPointer, Int) -> Void
      let anywhere = UnsafeMutableRawPointer(bitPattern: -2)
      guard let protect = dlsym(anywhere, "pthread_jit_write_protect_np"),
        let invalidate = dlsym(anywhere, "sys_icache_invalidate"),
        let pages = mmap(
          nil, byteCount, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | anonymousMapping | MAP_JIT, -1, 0),
        pages != MAP_FAILED
      else { return nil }
      let setProtected = unsafeBitCast(protect, to: Protect.self)
      setProtected(0)
      pages.copyMemory(from: code, byteCount: code.count)
      setProtected(1)
      unsafeBitCast(invalidate, to: Invalidate.self)(pages, code.count)
      return UnsafeRawPointer(pages)
    }
  #endif

  /// Writes to a memory file and maps it for execution only: the second of the two ways, not counted against the
  /// limit. `byteCount` is a multiple of the page's size, at least the code's.
  package static func placeInMemoryFile(_ code: [UInt8], byteCount: Int) -> UnsafeRawPointer? {
    #if os(Linux)
      // Glibc's headers show it to C with extensions only.
      typealias MemoryFile = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
      guard let symbol = dlsym(nil, "memfd_create") else { return nil }
      let closeOnExec: UInt32 = 1
      let descriptor = unsafeBitCast(symbol, to: MemoryFile.self)("apus-code", closeOnExec)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var written = 0
      while written < code.count {
        let count = code[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        written += count
      }
      guard ftruncate(descriptor, off_t(byteCount)) == 0,
        let pages = mmap(nil, byteCount, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0),
        pages != MAP_FAILED
      else { return nil }
      return UnsafeRawPointer(pages)
    #else
      return nil
    #endif
  }
}

#if canImport(Darwin)
  private let anonymousMapping = MAP_ANON
#else
  private let anonymousMapping = MAP_ANONYMOUS
#endif
