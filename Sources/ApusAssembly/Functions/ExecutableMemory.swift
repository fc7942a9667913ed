// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem
import Synchronization

/// Process-wide pages that hold generated code: written once, then sealed, never unmapped.
///
/// No page is ever writable and executable at once. Functions are written one after another, and all pages written so far
/// are sealed together before any of them runs, because each change of protection is a call to the system. If the system
/// refuses it, a memory file is mapped for execution. If that is refused too, the caller falls back to portable kernels.
@usableFromInline package enum ExecutableMemory {
  /// The maximum size of all code in bytes. A lower limit refuses further code, and keeps code that was placed before.
  package static var byteLimit: Int {
    get { limit.load(ordering: .relaxed) }
    set { limit.store(max(newValue, 0), ordering: .relaxed) }
  }

  private static let limit = Atomic<Int>(64 << 20)

  /// Whether not even a page of code fits within the limit.
  static var isFull: Bool {
    let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    return state.withLock { $0.used } > byteLimit - pageByteCount
  }

  /// The pages being filled, and the known behavior of the system.
  @safe fileprivate struct State: @unchecked Sendable {
    // @unchecked: only the thread that holds the lock writes to the unsealed pages.
    /// The address space for code. Offsets: up to `sealed`, pages are executable; up to `written`, they contain code; up to
    /// `ready`, they exist.
    var base: UnsafeMutableRawPointer?
    var (sealed, written, ready, byteCount) = (0, 0, 0, 0)
    /// The size of all pages that contain code.
    var used = 0
    /// Whether the system has made written pages executable, and whether it has refused to. At first neither is known.
    var (allowsSealing, refusesSealing) = (false, false)
  }

  private static let state = Mutex(State())
  /// Whether there is code that cannot run yet.
  @usableFromInline static let hasUnsealedCode = Atomic(false)
  /// The granularity in bytes of requests for address space, and of making its pages ready.
  fileprivate static let (roomByteCount, readyByteCount) = (256 << 10, 32 << 10)
  /// The alignment of functions: a cache line.
  fileprivate static let alignment = 64

  /// Places code in executable memory for the life of the process, ready to run.
  ///
  /// - Parameter synchronizes: whether to invalidate the instruction cache on arm64; false only for the code that does it.
  /// - Returns: the address of its first byte; nil if the system refuses.
  package static func place(_ code: [UInt8], synchronizes: Bool = true) -> UnsafeRawPointer? {
    let place = unsafe append(code, synchronizes: synchronizes)
    seal()
    return unsafe place
  }

  /// Writes code for the life of the process; it can run after the next ``seal()``.
  ///
  /// - Returns: the address of its first byte; nil if the system refuses.
  package static func append(
    _ code: [UInt8], synchronizes: Bool = true, withinLimit: Bool = true
  ) -> UnsafeRawPointer? {
    guard !code.isEmpty else { return nil }
    let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard pageByteCount > 0 else { return nil }
    let address = state.withLock { state -> Int? in
      let place = unsafe state.place(
        code, pageByteCount: pageByteCount, limit: withinLimit ? byteLimit : .max)
      #if arch(arm64)
        // Instruction caches are invalidated for executable pages only.
        state.seal(pageByteCount: pageByteCount)
      #endif
      return unsafe place.map { Int(bitPattern: $0) }
    }
    guard let place = unsafe address.flatMap({ unsafe UnsafeRawPointer(bitPattern: $0) }) else { return nil }
    #if arch(arm64) && !canImport(Darwin)
      if synchronizes { unsafe Arm64CacheMaintenance.synchronize(place, byteCount: code.count) }
    #endif
    return unsafe place
  }

  /// Whether only a lack of memory can prevent more code: the system has made written pages executable before.
  package static var growsFreely: Bool { state.withLock { $0.allowsSealing } }

  /// Makes all written code executable. Call it before any of that code runs.
  @inlinable @inline(__always)
  package static func seal() {
    if hasUnsealedCode.load(ordering: .acquiring) { sealPages() }
  }

  @usableFromInline @inline(never)
  static func sealPages() {
    let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    state.withLock { $0.seal(pageByteCount: pageByteCount) }
  }

  #if os(macOS) && arch(arm64)
    /// Writes to pages that are, for each thread separately, either writable or executable.
    fileprivate static func inWriteProtectedPages(_ code: [UInt8], _ byteCount: Int) -> UnsafeRawPointer? {
      // Looked up by name, because not every SDK module declares them.
      typealias Protect = @convention(c) (Int32) -> Void
      typealias Invalidate = @convention(c) (UnsafeMutableRawPointer, Int) -> Void
      let anywhere = unsafe UnsafeMutableRawPointer(bitPattern: -2)
      guard let protect = unsafe dlsym(anywhere, "pthread_jit_write_protect_np"),
        let invalidate = unsafe dlsym(anywhere, "sys_icache_invalidate"),
        let pages = unsafe mmap(
          nil, byteCount, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | anonymousMapping | MAP_JIT, -1, 0),
        unsafe pages != MAP_FAILED
      else { return nil }
      let setProtected = unsafe unsafeBitCast(protect, to: Protect.self)
      setProtected(0)
      unsafe pages.copyMemory(from: code, byteCount: code.count)
      setProtected(1)
      unsafe unsafeBitCast(invalidate, to: Invalidate.self)(pages, code.count)
      return unsafe UnsafeRawPointer(pages)
    }
  #endif

  /// Writes code to a memory file and maps it for execution only. This is for systems that refuse to make written pages
  /// executable; it is not counted against the limit.
  ///
  /// - Parameters:
  ///   - byteCount: a multiple of the page size, at least the size of the code.
  ///   - place: pages that the mapping replaces; nil for new ones.
  package static func placeInMemoryFile(
    _ code: [UInt8], byteCount: Int, replacing place: UnsafeMutableRawPointer? = nil
  ) -> UnsafeRawPointer? {
    #if os(Linux)
      // Glibc's headers declare it for C with extensions only.
      typealias MemoryFile = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
      guard let symbol = unsafe dlsym(nil, "memfd_create") else { return nil }
      let closeOnExec: UInt32 = 1
      let descriptor = unsafe unsafeBitCast(symbol, to: MemoryFile.self)("apus-code", closeOnExec)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var written = 0
      while written < code.count {
        let count = unsafe code[written...].withUnsafeBytes {
          unsafe write(descriptor, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return nil }
        written += count
      }
      guard ftruncate(descriptor, off_t(byteCount)) == 0,
        let pages = unsafe mmap(
          place, byteCount, PROT_READ | PROT_EXEC, MAP_PRIVATE | (place == nil ? 0 : MAP_FIXED), descriptor, 0
        ),
        unsafe pages != MAP_FAILED
      else { return nil }
      return UnsafeRawPointer(pages)
    #else
      return nil
    #endif
  }
}

extension ExecutableMemory.State {
  /// Writes code to pages that can be sealed, or to a memory file if the system refuses the former.
  mutating func place(_ code: [UInt8], pageByteCount: Int, limit: Int) -> UnsafeRawPointer? {
    #if os(iOS)
      return nil  // iOS executes no pages made at run time.
    #else
      let byteCount = roundedUp(code.count, to: pageByteCount)
      // Code placed beyond the limit is not counted.
      let counted = used
      defer { if limit == .max { used = counted } }
      guard used + byteCount <= limit else { return nil }
      #if os(macOS) && arch(arm64)
        let place = unsafe ExecutableMemory.inWriteProtectedPages(code, byteCount)
      #else
        if !refusesSealing, let place = unsafe append(code, pageByteCount: pageByteCount) {
          return unsafe place
        }
        let place = unsafe ExecutableMemory.placeInMemoryFile(code, byteCount: byteCount)
      #endif
      if unsafe place != nil { used += byteCount }
      return unsafe place
    #endif
  }

  /// Appends code to earlier code; nil if there is no address space, or pages cannot be sealed.
  private mutating func append(_ code: [UInt8], pageByteCount: Int) -> UnsafeRawPointer? {
    if written + code.count > byteCount {
      seal(pageByteCount: pageByteCount)
      if let base = unsafe base, sealed < byteCount { unsafe munmap(base + sealed, byteCount - sealed) }
      unsafe (base, sealed, written, ready, byteCount) = (nil, 0, 0, 0, 0)
      var flags = MAP_PRIVATE | anonymousMapping
      #if canImport(Darwin)
        flags |= MAP_JIT
      #endif
      let asked = roundedUp(max(code.count, ExecutableMemory.roomByteCount), to: pageByteCount)
      guard let room = unsafe mmap(nil, asked, PROT_READ | PROT_WRITE, flags, -1, 0),
        unsafe room != MAP_FAILED
      else {
        return nil
      }
      unsafe (base, byteCount) = unsafe (room, asked)
    }
    guard let base = unsafe base else { return nil }
    let place = unsafe base + written
    if written + code.count > ready {
      let end = min(roundedUp(written + code.count, to: ExecutableMemory.readyByteCount), byteCount)
      unsafe Pages.populate(base + ready, byteCount: end - ready)
      ready = end
    }
    unsafe place.copyMemory(from: code, byteCount: code.count)
    used += roundedUp(written + code.count, to: pageByteCount) - roundedUp(written, to: pageByteCount)
    written = min(roundedUp(written + code.count, to: ExecutableMemory.alignment), byteCount)
    if !allowsSealing {
      let end = roundedUp(written, to: pageByteCount)
      allowsSealing = unsafe mprotect(base, end, PROT_READ | PROT_EXEC) == 0
      refusesSealing = !allowsSealing
      guard allowsSealing else {
        unsafe munmap(base, byteCount)
        unsafe (self.base, written, ready, byteCount, used) = (nil, 0, 0, 0, 0)
        return nil
      }
      (sealed, written) = (end, end)
    } else {
      ExecutableMemory.hasUnsealedCode.store(true, ordering: .releasing)
    }
    return UnsafeRawPointer(place)
  }

  /// Makes written pages executable instead of writable.
  ///
  /// If a system that allowed it before refuses now, a memory file replaces these pages.
  mutating func seal(pageByteCount: Int) {
    guard let base = unsafe base, written > sealed else { return }
    let end = roundedUp(written, to: pageByteCount)
    if unsafe mprotect(base + sealed, end - sealed, PROT_READ | PROT_EXEC) != 0 {
      let code = unsafe Array(UnsafeRawBufferPointer(start: base + sealed, count: end - sealed))
      let pages = unsafe ExecutableMemory.placeInMemoryFile(
        code, byteCount: code.count, replacing: base + sealed)
      unsafe precondition(
        pages != nil, "the system refuses to make code executable, in both ways that worked before")
    }
    (sealed, written, ready) = (end, end, max(ready, end))
    ExecutableMemory.hasUnsealedCode.store(false, ordering: .releasing)
  }
}

#if canImport(Darwin)
  private let anonymousMapping = MAP_ANON
#else
  private let anonymousMapping = MAP_ANONYMOUS
#endif
