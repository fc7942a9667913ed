// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// Zeroed memory of tensors.
///
/// Whoever writes through ``base`` owns the object alone; shared objects are written before they are shared.
final class TensorMemory: Sendable {
  /// The alignment of every tensor, in bytes.
  static let alignment = ZeroedMemory.alignment

  private let memory: ZeroedMemory

  init(byteCount: Int) { memory = ZeroedMemory(byteCount: byteCount) }

  /// The first byte.
  var base: UnsafeMutableRawPointer { memory.base }

  /// How many bytes there are; at least one.
  var byteCount: Int { memory.byteCount }

  /// The bytes, for who only reads them.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      _overrideLifetime(
        RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: byteCount)), borrowing: self)
    }
  }

  /// Lends the bytes, to be written by the object's only owner.
  func withMutableBytes<R>(_ body: (inout MutableRawSpan) -> R) -> R {
    var bytes = MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(start: base, count: byteCount))
    return body(&bytes)
  }
}

/// Where a tensor's elements lie while its graph runs.
struct TensorBuffer: @unchecked Sendable {
  // @unchecked: who holds a buffer owns its bytes, or only reads them.

  /// The first byte, aligned for the element type; nil while the tensor has no memory.
  var base: UnsafeMutableRawPointer?
  /// The bytes of all elements.
  var byteCount: Int

  static var none: TensorBuffer { TensorBuffer(base: nil, byteCount: 0) }
}
