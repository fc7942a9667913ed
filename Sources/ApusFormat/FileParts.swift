// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

/// The memory of an open file that is read in parts, on request.
///
/// Large weights are read once, for packing, into a buffer that is reused for the next ones. So their place in the
/// file's memory stays without pages. Everything else is read in blocks. A file that changes in the meantime is an error.
@safe final class FileParts: @unchecked Sendable {
  // @unchecked: memory is written under the lock and then marked as present; it is not read before that.

  /// The minimum size of a read. A power of two.
  static let blockByteCount = 16 << 10
  /// The maximum number of blocks that are read ahead.
  private static let maximumAhead = 16
  /// The maximum gap between two ranges, in blocks, that is read along with them.
  private static let maximumBetween = 2

  /// For each block: whether it is in memory.
  let flags: UnsafeMutablePointer<Atomic<Bool>>
  private let blockCount: Int

  private let descriptor: Int32
  private let stamp: Stamp
  private let memory: UnsafeMutableRawPointer
  private let count: Int
  /// The blocks that were read last, to detect sequential access.
  private let last = Mutex(0..<0)

  /// Takes over an open file whose `count` bytes belong in `memory`, which must outlive the object.
  init(descriptor: Int32, count: Int, memory: UnsafeMutableRawPointer) {
    self.descriptor = descriptor
    self.count = count
    unsafe self.memory = memory
    stamp = Stamp(descriptor)
    blockCount = (count + Self.blockByteCount - 1) / Self.blockByteCount
    unsafe flags = .allocate(capacity: max(blockCount, 1))
    for block in 0..<blockCount { unsafe (flags + block).initialize(to: Atomic(false)) }
  }

  deinit {
    unsafe flags.deallocate()
    close(descriptor)
  }

  /// Whether a whole range is in memory.
  @inline(__always)
  func contains(_ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return true }
    for block in blocks(of: range) where unsafe !flags[block].load(ordering: .acquiring) { return false }
    return true
  }

  /// Reads the missing blocks of a range, and nothing else.
  func require(_ range: Range<Int>) throws(FormatError) {
    guard !contains(range) else { return }
    let failure = last.withLock { _ in read(blocks: blocks(of: range)) }
    if let failure { throw failure }
  }

  /// Reads the missing blocks of a range, and blocks ahead of it: read-ahead doubles while access is
  /// sequential.
  func browse(_ range: Range<Int>) throws(FormatError) {
    let failure: FormatError? = last.withLock { last in
      guard !contains(range) else { return nil }
      var blocks = blocks(of: range)
      let length = min(2 * last.count, Self.maximumAhead)
      if 0...Self.maximumBetween ~= blocks.lowerBound - last.upperBound {
        blocks = last.upperBound..<min(max(blocks.upperBound, last.upperBound + length), blockCount)
      } else if 0...Self.maximumBetween ~= last.lowerBound - blocks.upperBound {
        blocks = max(min(blocks.lowerBound, last.lowerBound - length), 0)..<last.lowerBound
      }
      last = blocks
      return read(blocks: blocks)
    }
    if let failure { throw failure }
  }

  /// Copies a range from the file.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) throws(FormatError) {
    if let failure = unsafe read(range, to: target) { throw failure }
  }

  private func blocks(of range: Range<Int>) -> Range<Int> {
    range.lowerBound / Self.blockByteCount..<(range.upperBound - 1) / Self.blockByteCount + 1
  }

  /// Reads the missing blocks of a range, under the lock; returns the error, if any.
  private func read(blocks: Range<Int>) -> FormatError? {
    var block = blocks.lowerBound
    while block < blocks.upperBound {
      let first = block
      while block < blocks.upperBound, unsafe !flags[block].load(ordering: .relaxed) { block += 1 }
      if first < block {
        let part = first * Self.blockByteCount..<min(block * Self.blockByteCount, count)
        unsafe Pages.populate(memory + part.lowerBound, byteCount: part.count)
        if let failure = unsafe read(part, to: memory + part.lowerBound) { return failure }
        for known in first..<block { unsafe flags[known].store(true, ordering: .releasing) }
      }
      block += 1
    }
    return nil
  }

  /// Reads a range; returns the error, if any.
  private func read(_ range: Range<Int>, to target: UnsafeMutableRawPointer) -> FormatError? {
    let reason: String
    if let code = unsafe FileBytes.read(range, of: descriptor, to: target) {
      reason = code == 0 ? "the file became shorter" : FileBytes.reason(code)
    } else if Stamp(descriptor) != stamp {
      reason = "the file was changed"
    } else {
      return nil
    }
    return FormatError(unreadable: "cannot read \(range.count) bytes of the model's file: \(reason)")
  }

  /// Detects whether a file was written to. Changes of its name or owner do not matter.
  private struct Stamp: Equatable {
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ descriptor: Int32) {
      var status = stat()
      let isKnown = unsafe fstat(descriptor, &status) == 0
      #if canImport(Darwin)
        let modified = status.st_mtimespec
      #else
        let modified = status.st_mtim
      #endif
      (size, seconds, nanoseconds) = (isKnown ? Int(status.st_size) : -1, modified.tv_sec, modified.tv_nsec)
    }
  }
}
