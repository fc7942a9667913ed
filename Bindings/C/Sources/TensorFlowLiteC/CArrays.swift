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

  /// A copy of a client's array; nil for NULL, for a count below zero, and if the system refuses memory.
  static func copy(_ array: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
    guard let array, let copy = make(Int32.self, count: Int(array.load(as: Int32.self))) else { return nil }
    memcpy(copy + 4, array + 4, 4 * Int(array.load(as: Int32.self)))
    return copy
  }

  /// Whether a client's array of integers has these elements.
  static func elements(of array: UnsafeRawPointer, equal elements: UnsafeRawPointer?, count: Int32) -> Bool {
    guard array.load(as: Int32.self) == count, count >= 0 else { return false }
    if count == 0 { return true }
    guard let elements else { return false }
    return memcmp(array + 4, elements, 4 * Int(count)) == 0
  }

  /// The elements of a client's array of integers, as shapes and lists of tensors have them; nil for NULL, and for a count below zero or
  /// above 65,536.
  static func integers(_ array: UnsafeRawPointer?) -> [Int32]? {
    guard let array else { return nil }
    return integers(array + 4, count: array.load(as: Int32.self))
  }

  /// A client's integers, as shapes and lists of tensors have them; nil for a count below zero or above 65,536, and for NULL unless the
  /// count is zero.
  static func integers(_ elements: UnsafeRawPointer?, count: Int32) -> [Int32]? {
    guard count >= 0, count <= 1 << 16 else { return nil }
    if count == 0 { return [] }
    guard let elements else { return nil }
    return (0..<Int(count)).map { elements.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
  }

  /// Gives back the memory of an array.
  static func release(_ array: UnsafeMutableRawPointer?) { free(array) }
}
