/// Bounds-checked little-endian loads from bytes that someone else keeps alive.
///
/// The only place of this module that dereferences a pointer. No load needs alignment.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer

  /// Reads from `bytes`, which must outlive the reader.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// The number of bytes; a valid offset is less than this.
  var count: Int { bytes.count }

  /// Whether `length` bytes are there from `offset` on; any two numbers may be asked about.
  @inline(__always)
  func contains(_ length: Int, at offset: Int) -> Bool {
    offset >= 0 && length >= 0 && offset <= bytes.count && length <= bytes.count - offset
  }

  /// The little-endian integer at `offset`.
  @inline(__always)
  func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type = T.self, at offset: Int
  ) throws(FormatError) -> T {
    guard contains(MemoryLayout<T>.size, at: offset) else { throw outside(offset, MemoryLayout<T>.size) }
    // In bounds by the guard; unaligned loads are allowed for bitwise-copyable types.
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
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
    var result: [R] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      // In bounds: the guard covers all `count` elements.
      let value = bytes.loadUnaligned(fromByteOffset: offset + index * MemoryLayout<T>.size, as: T.self)
      result.append(transform(T(littleEndian: value)))
    }
    return result
  }

  /// The text of `length` UTF-8 bytes at `offset`; invalid sequences become U+FFFD.
  func text(at offset: Int, length: Int) throws(FormatError) -> String {
    guard contains(length, at: offset) else { throw outside(offset, length) }
    return String(decoding: bytes[offset..<(offset + length)], as: UTF8.self)
  }

  /// A reader of the given bytes alone, whose offsets begin at zero.
  func slice(_ range: Range<Int>) throws(FormatError) -> ByteReader {
    guard contains(range.count, at: range.lowerBound) else { throw outside(range.lowerBound, range.count) }
    return ByteReader(UnsafeRawBufferPointer(rebasing: bytes[range]))
  }

  private func outside(_ offset: Int, _ length: Int) -> FormatError {
    FormatError("\(length) bytes at offset \(offset) reach outside the \(bytes.count) bytes")
  }
}
