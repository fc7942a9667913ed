// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `TfLiteIntArray` and `TfLiteFloatArray`: a count of 4 bytes, then as many elements of 4 bytes, in memory of `malloc`.
enum CArrays {
  /// An array with these elements; nil if the system refuses memory.
  static func make<T: BitwiseCopyable>(_ elements: [T]) -> UnsafeMutableRawPointer? {
    guard let memory = make(T.self, count: elements.count) else { return nil }
    elements.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { memcpy(memory + 4, base, bytes.count) }
    }
    return memory
  }

  /// An array whose elements are zero; nil for a count below zero, and if the system refuses memory.
  static func make<T>(_: T.Type, count: Int) -> UnsafeMutableRawPointer? {
    guard count >= 0, count <= (Int(Int32.max) - 4) / MemoryLayout<T>.stride,
      let memory = calloc(1, 4 + count * MemoryLayout<T>.stride)
    else { return nil }
    memory.storeBytes(of: Int32(count), as: Int32.self)
    return memory
  }

  /// The elements of a client's array of integers; nil for NULL and for a count below zero.
  static func integers(_ array: UnsafeRawPointer?) -> [Int32]? {
    guard let array else { return nil }
    return integers(array + 4, count: array.load(as: Int32.self))
  }

  /// A client's integers; nil for a count below zero, and for NULL unless the count is zero.
  static func integers(_ elements: UnsafeRawPointer?, count: Int32) -> [Int32]? {
    guard count >= 0, count <= 1 << 16 else { return nil }
    if count == 0 { return [] }
    guard let elements else { return nil }
    return (0..<Int(count)).map { elements.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
  }

  /// Gives back the memory of an array.
  static func release(_ array: UnsafeMutableRawPointer?) { free(array) }
}
