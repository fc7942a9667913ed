// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Bounds-checked little-endian loads from bytes that someone else keeps alive.
///
/// The only place in this module that dereferences a pointer. Loads need no alignment.
@safe struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  /// For a file that is read in parts: its reader. The reference is not counted, because
  /// readers are copied into every table.
  private unowned(unsafe) let parts: FileParts?
  private let flags: UnsafeMutablePointer<Atomic<Bool>>?

  /// Reads from `bytes`. They, and `parts`, must outlive the reader.
  init(_ bytes: UnsafeRawBufferPointer, parts: FileParts? = nil) {
    unsafe self.bytes = bytes
    unsafe self.parts = parts
    unsafe flags = parts?.flags
  }

  /// The number of bytes; a valid offset is less than this.
  var count: Int { unsafe bytes.count }

  /// Whether there are `length` bytes from `offset` on; both can be any number.
  @inline(__always)
  func contains(_ length: Int, at offset: Int) -> Bool {
    unsafe offset >= 0 && length >= 0 && offset <= bytes.count && length <= bytes.count - offset
  }

  /// Reads the missing parts of a range that is within bounds.
  @inline(__always)
  func require(_ length: Int, at offset: Int) throws(FormatError) {
    guard let flags = unsafe flags, length > 0 else { return }
    let first = offset / FileParts.blockByteCount
    let last = (offset + length - 1) / FileParts.blockByteCount
    if last <= first + 1, unsafe flags[first].load(ordering: .acquiring),
      unsafe flags[last].load(ordering: .acquiring)
    {
      return
    }
    try browse(length, at: offset)
  }

  @inline(never)
  private func browse(_ length: Int, at offset: Int) throws(FormatError) {
    try unsafe parts?.browse(offset..<offset + length)
  }

  /// The little-endian integer at `offset`.
  @inline(__always)
  func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type = T.self, at offset: Int
  ) throws(FormatError) -> T {
    guard contains(MemoryLayout<T>.size, at: offset) else { throw outside(offset, MemoryLayout<T>.size) }
    try require(MemoryLayout<T>.size, at: offset)
    // In bounds by the guard; unaligned loads are allowed for bitwise-copyable types.
    return unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// `count` little-endian integers that follow each other from `offset` on.
  func integers<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type = T.self, at offset: Int, count: Int
  ) throws(FormatError) -> [T] {
    try map(T.self, at: offset, count: count) { $0 }
  }

  /// `count` little-endian integers from `offset` on, each passed through `transform`.
  func map<T: FixedWidthInteger & BitwiseCopyable, R>(
    _ type: T.Type, at offset: Int, count: Int, _ transform: (T) -> R
  ) throws(FormatError) -> [R] {
    let (length, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<T>.size)
    guard !overflow, contains(length, at: offset) else { throw outside(offset, overflow ? count : length) }
    try require(length, at: offset)
    var result: [R] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      // In bounds: the guard covers all `count` elements.
      let value = unsafe bytes.loadUnaligned(
        fromByteOffset: offset + index * MemoryLayout<T>.size, as: T.self)
      result.append(transform(T(littleEndian: value)))
    }
    return result
  }

  /// The text of `length` UTF-8 bytes at `offset`; invalid sequences become U+FFFD.
  func text(at offset: Int, length: Int) throws(FormatError) -> String {
    guard contains(length, at: offset) else { throw outside(offset, length) }
    try require(length, at: offset)
    return unsafe String(decoding: bytes[offset..<(offset + length)], as: UTF8.self)
  }

  /// A reader of the given bytes alone, whose offsets begin at zero.
  func slice(_ range: Range<Int>) throws(FormatError) -> ByteReader {
    guard contains(range.count, at: range.lowerBound) else { throw outside(range.lowerBound, range.count) }
    try require(range.count, at: range.lowerBound)
    return unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes[range]))
  }

  private func outside(_ offset: Int, _ length: Int) -> FormatError {
    FormatError(outside: unsafe "\(length) bytes at offset \(offset) reach outside the \(bytes.count) bytes")
  }
}
