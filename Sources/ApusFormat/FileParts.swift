import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The parts of a file's bytes whose memory was given back, and the way to get them again.
///
/// Weights are read once, to be packed, and seldom again. So pages that hold nothing else go back to the system until
/// someone asks for them, and come from the file then, which stays open. A file that was changed meanwhile is an error.
final class FileParts: @unchecked Sendable {
  // @unchecked: the memory is written under the lock, and only where nobody reads it.

  /// What became of each page.
  private struct Pages: Sendable {
    var areReleased: [Bool]
    /// Those that are never released, as someone reads them in their place.
    var arePinned: [Bool]
    /// How many read parts for a while.
    var borrowerCount = 0
  }

  private let descriptor: Int32
  private let stamp: Stamp
  private let memory: UnsafeMutableRawPointer
  private let count: Int
  private let pageByteCount: Int
  private let pages: Mutex<Pages>

  /// Takes over an open file whose `count` bytes will be in `memory`, which outlives the object.
  init(descriptor: Int32, count: Int, memory: UnsafeMutableRawPointer) {
    self.descriptor = descriptor
    self.count = count
    self.memory = memory
    stamp = Stamp(descriptor)
    pageByteCount = max(1, sysconf(Int32(_SC_PAGESIZE)))
    let no = Array(repeating: false, count: count / pageByteCount + 1)
    pages = Mutex(Pages(areReleased: no, arePinned: no))
  }

  deinit { close(descriptor) }

  /// Gives back the pages that lie within a range, unless someone reads any.
  func release(_ range: Range<Int>) {
    #if os(Linux)
      // Memory that begins within a page, where pages are large, stays.
      guard Int(bitPattern: memory).isMultiple(of: pageByteCount) else { return }
      let first = (range.lowerBound + pageByteCount - 1) / pageByteCount
      let end = range.upperBound / pageByteCount
      guard first < end else { return }
      pages.withLock { pages in
        guard pages.borrowerCount == 0, !pages.arePinned[first..<end].contains(true) else { return }
        guard
          madvise(memory + first * pageByteCount, (end - first) * pageByteCount, Int32(MADV_DONTNEED)) == 0
        else { return }
        for page in first..<end { pages.areReleased[page] = true }
      }
    #endif
  }

  /// Keeps a range in its place from now on, and reads what is missing of it.
  func pin(_ range: Range<Int>) throws(FormatError) {
    guard !range.isEmpty else { return }
    let touched = pagesOf(range)
    let failure: FormatError? = pages.withLock { pages in
      var page = touched.lowerBound
      while page < touched.upperBound {
        let first = page
        while page < touched.upperBound, pages.areReleased[page] { page += 1 }
        if first < page {
          let part = first * pageByteCount..<min(page * pageByteCount, count)
          if let failure = read(part, to: memory + part.lowerBound) { return failure }
          for known in first..<page { pages.areReleased[known] = false }
        }
        page += 1
      }
      for page in touched { pages.arePinned[page] = true }
      return nil
    }
    if let failure { throw failure }
  }

  /// Keeps all that is there until ``giveBack()``; answers whether that is all of a range, and keeps nothing otherwise.
  func borrow(_ range: Range<Int>) -> Bool {
    pages.withLock { pages in
      guard range.isEmpty || !pages.areReleased[pagesOf(range)].contains(true) else { return false }
      pages.borrowerCount += 1
      return true
    }
  }

  func giveBack() { pages.withLock { $0.borrowerCount -= 1 } }

  /// Reads a range from the file.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) throws(FormatError) {
    if let failure = read(range, to: target) { throw failure }
  }

  private func pagesOf(_ range: Range<Int>) -> Range<Int> {
    range.lowerBound / pageByteCount..<(range.upperBound - 1) / pageByteCount + 1
  }

  /// Answers what went wrong.
  private func read(_ range: Range<Int>, to target: UnsafeMutableRawPointer) -> FormatError? {
    let reason: String
    if let code = FileBytes.read(range, of: descriptor, to: target) {
      reason = code == 0 ? "the file became shorter" : FileBytes.reason(code)
    } else if Stamp(descriptor) != stamp {
      reason = "the file was changed"
    } else {
      return nil
    }
    return FormatError("cannot read \(range.count) bytes of the model's file again: \(reason)")
  }

  /// What tells whether a file was written to. The time at which its name or owner changed does not matter.
  private struct Stamp: Equatable {
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ descriptor: Int32) {
      var status = stat()
      let isKnown = fstat(descriptor, &status) == 0
      #if canImport(Darwin)
        let modified = status.st_mtimespec
      #else
        let modified = status.st_mtim
      #endif
      (size, seconds, nanoseconds) = (isKnown ? Int(status.st_size) : -1, modified.tv_sec, modified.tv_nsec)
    }
  }
}
