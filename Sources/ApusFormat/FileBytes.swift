// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The bytes of a file, immutable and shared, in memory aligned to 64 bytes.
///
/// The memory lives as long as the object. Reading makes a private copy; mapping is for callers that accept
/// that a file truncated by someone else kills the process.
@safe package final class FileBytes: @unchecked Sendable {
  // @unchecked: the memory is written before `init` returns and never afterwards, except parts that have not
  // been read yet.

  /// The alignment of ``baseAddress`` in bytes.
  package static let alignment = 64

  /// The largest file that is read or mapped unless the caller says otherwise: 2 GiB, the reach of the
  /// format's own offsets.
  package static let defaultMaximumSize = 1 << 31

  /// The number of bytes.
  package let count: Int

  /// Where the bytes begin; valid while the object lives, also when there are no bytes.
  package var baseAddress: UnsafeRawPointer { unsafe UnsafeRawPointer(memory) }

  private let memory: UnsafeMutableRawPointer
  private let release: Release

  /// Reads the missing parts of the file; nil if everything is in memory.
  private let parts: FileParts?

  /// The minimum size of a file that is read in parts.
  private static let minimumParted = 256 << 10

  /// How the memory is released.
  private enum Release { case free, deallocate, unmap }

  /// Reads a regular file into new memory.
  ///
  /// With `keepsOpen`, a large file is read in parts on request, see ``withReader(_:)`` and
  /// ``require(_:)``.
  ///
  /// Throws when the file cannot be opened or read, is a folder, a pipe or a device, is larger than
  /// `maximumSize`, or shrinks while it is read.
  package init(
    readingFileAt path: String, maximumSize: Int = FileBytes.defaultMaximumSize, keepsOpen: Bool = false
  ) throws(FormatError) {
    let (descriptor, size) = try Self.open(path, maximumSize: maximumSize)
    count = size
    if keepsOpen, size >= Self.minimumParted, let memory = unsafe Self.reserve(size) {
      unsafe self.memory = memory
      parts = unsafe FileParts(descriptor: descriptor, count: size, memory: memory)
      release = .unmap
      return
    }
    defer { close(descriptor) }
    guard let memory = unsafe Self.allocate(size) else {
      throw FormatError("cannot read '\(path)': no memory for \(size) bytes")
    }
    if let code = unsafe Self.read(0..<size, of: descriptor, to: memory) {
      unsafe free(memory)
      let reason = code == 0 ? "the file became shorter while it was read" : Self.reason(code)
      throw FormatError("cannot read '\(path)': \(reason)")
    }
    unsafe self.memory = memory
    parts = nil
    release = .free
  }

  /// Whether there is a file or folder with this path.
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Reads a range of an open file. Returns the code of the error, or 0 if the file ends too early.
  static func read(
    _ range: Range<Int>, of descriptor: Int32, to target: UnsafeMutableRawPointer
  ) -> Int32? {
    var filled = 0
    while filled < range.count {
      let received = unsafe pread(
        descriptor, target + filled, min(range.count - filled, 1 << 30), off_t(range.lowerBound + filled))
      if received > 0 {
        filled += received
      } else if received == 0 || errno != EINTR {
        return received == 0 ? 0 : errno
      }
    }
    return nil
  }

  /// Maps a regular file: its pages are shared with the system's cache and read when touched.
  ///
  /// The file must stay as it is while the object lives: touching a page that was cut off ends the process.
  package init(mappingFileAt path: String, maximumSize: Int = FileBytes.defaultMaximumSize)
    throws(FormatError)
  {
    let (descriptor, size) = try Self.open(path, maximumSize: maximumSize)
    defer { close(descriptor) }
    count = size
    if size == 0 {  // mmap refuses an empty mapping
      guard let memory = unsafe Self.allocate(0) else { throw FormatError("cannot map '\(path)': no memory") }
      unsafe self.memory = memory
      release = .free
      parts = nil
      return
    }
    guard let address = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0),
      unsafe address != MAP_FAILED
    else {
      throw FormatError("cannot map '\(path)': \(Self.reason(errno))")
    }
    unsafe memory = address
    release = .unmap
    parts = nil
  }

  /// Copies bytes from memory.
  package convenience init(copying bytes: [UInt8]) {
    unsafe self.init(count: bytes.count) { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
  }

  /// Copies bytes from memory.
  package convenience init(copying bytes: UnsafeRawBufferPointer) {
    unsafe self.init(count: bytes.count) { unsafe $0.copyMemory(from: bytes) }
  }

  private init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
    // Running out of memory here ends the process, as it does for every Swift array of this size.
    unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: Self.alignment)
    self.count = count
    release = .deallocate
    parts = nil
    unsafe fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
  }

  deinit {
    switch release {
    case .free: unsafe free(memory)
    case .deallocate: unsafe memory.deallocate()
    case .unmap: unsafe munmap(memory, count)
    }
  }

  // MARK: Parts

  /// Whether parts may be missing yet.
  package var hasParts: Bool { parts != nil }

  /// Whether a whole range is in memory.
  package func contains(_ range: Range<Int>) -> Bool { isWithin(range) && parts?.contains(range) ?? true }

  /// Reads the missing parts of a range.
  package func require(_ range: Range<Int>) throws(FormatError) {
    guard isWithin(range) else { throw FormatError("bytes \(range) lie outside the file's \(count)") }
    try parts?.require(range)
  }

  /// Copies a range of a file that is read in parts; none of it need be in memory.
  package func copyFromFile(
    _ range: Range<Int>, to target: UnsafeMutableRawPointer
  ) throws(FormatError) {
    guard let parts, isWithin(range) else { throw FormatError("bytes \(range) are not in an open file") }
    try unsafe parts.copy(range, to: target)
  }

  /// A copy of a range. What of it is not in memory is read for the copy alone.
  package func copy(of range: Range<Int>) throws(FormatError) -> [UInt8] {
    guard isWithin(range) else { throw FormatError("bytes \(range) lie outside the file's \(count)") }
    guard hasParts else {
      return unsafe withUnsafeBytes { unsafe Array($0[range]) }
    }
    var failure: FormatError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initializedCount in
      guard let target = buffer.baseAddress, !range.isEmpty else { return }
      do throws(FormatError) {
        try unsafe copyFromFile(range, to: target)
        initializedCount = range.count
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  private func isWithin(_ range: Range<Int>) -> Bool { range.lowerBound >= 0 && range.upperBound <= count }

  /// Calls `body` with a reader of all bytes, which reads the file on demand. The reader must not leave the closure.
  func withReader<R>(_ body: (ByteReader) throws(FormatError) -> R) throws(FormatError) -> R {
    try unsafe withUnsafeBytes { (raw) throws(FormatError) in try unsafe body(ByteReader(raw, parts: parts)) }
  }

  // MARK: Bytes

  /// The little-endian integer at a checked offset.
  @inline(__always)
  func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self, at offset: Int) -> T {
    precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size)
    return unsafe T(littleEndian: UnsafeRawPointer(memory).loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// The first of a vector's little-endian integers that satisfies `isSought`.
  @inline(__always)
  func first<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type, of vector: FlatBufferVector, where isSought: (T) -> Bool
  ) -> T? {
    precondition(
      vector.start >= 0 && vector.count >= 0
        && vector.start + vector.count * MemoryLayout<T>.size <= count)
    let start = unsafe UnsafeRawPointer(memory) + vector.start
    for index in 0..<vector.count {
      let value = unsafe start.loadUnaligned(fromByteOffset: index &* MemoryLayout<T>.size, as: T.self)
      if isSought(T(littleEndian: value)) { return T(littleEndian: value) }
    }
    return nil
  }

  /// The text of UTF-8 bytes; invalid sequences become U+FFFD.
  func text(_ text: FlatBufferVector) -> String {
    unsafe withUnsafeBytes {
      unsafe String(decoding: $0[text.start..<text.start + text.count], as: UTF8.self)
    }
  }

  /// Calls `body` with all bytes; those that were not required may be zeros. The pointer must not leave the closure.
  package func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withExtendedLifetime(self) { () throws(E) -> R in
      try unsafe body(UnsafeRawBufferPointer(start: memory, count: count))
    }
  }

  /// Memory for a file whose pages are created at once: large ones if the system has them, because creating one costs little
  /// more than a hundred small ones. The last page is large only if little of it is unused.
  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    let largePage = Pages.largeByteCount
    var pages = size / largePage
    let rest = largePage - size % largePage
    if rest <= (pages == 0 ? largePage / 4 : size / 16) { pages += 1 }
    let byteCount = max(size, pages * largePage, 1)
    var memory: UnsafeMutableRawPointer?
    guard unsafe posix_memalign(&memory, pages == 0 ? pageAlignment : largePage, byteCount) == 0,
      let memory = unsafe memory
    else {
      return nil
    }
    if pages > 0 { unsafe Pages.makeLarge(memory, byteCount: pages * largePage) }
    if size >= pageAlignment { unsafe Pages.populate(memory, byteCount: byteCount) }
    return unsafe memory
  }

  /// Address space for a file whose pages are created on writing.
  private static func reserve(_ size: Int) -> UnsafeMutableRawPointer? {
    unsafe Pages.map(size)
  }

  /// A multiple of the page size, on most systems.
  private static let pageAlignment = 4096

  private static func open(
    _ path: String, maximumSize: Int
  ) throws(FormatError) -> (descriptor: Int32, size: Int) {
    guard !path.utf8.contains(0) else {
      throw FormatError("cannot open a path with a zero byte in it")
    }
    // Opening a pipe would otherwise wait for a writer.
    let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw FormatError("cannot open '\(path)': \(reason(errno))")
    }
    do throws(FormatError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else {
        throw FormatError("cannot examine '\(path)': \(reason(errno))")
      }
      let kind = status.st_mode & S_IFMT
      guard kind == S_IFREG else {
        throw FormatError(
          "cannot read '\(path)': it is \(kind == S_IFDIR ? "a folder" : "not a regular file")")
      }
      let size = Int(status.st_size)
      guard size >= 0, size <= maximumSize else {
        throw FormatError(limit: "cannot read '\(path)': it has \(size) bytes, at most \(maximumSize)")
      }
      return (descriptor, size)
    } catch {
      close(descriptor)
      throw error
    }
  }

  static func reason(_ code: Int32) -> String {
    unsafe String(cString: strerror(code))
  }
}

/// `open(2)`, under a name that the methods of ``FileBytes`` do not hide.
private func openFile(_ path: String, _ flags: Int32) -> Int32 {
  unsafe open(path, flags)
}
