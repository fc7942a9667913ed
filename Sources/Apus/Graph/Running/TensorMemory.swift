// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusRuntime

/// Zeroed memory of tensors.
///
/// Code that writes through ``base`` is the only owner; shared objects are written before they are shared.
final class TensorMemory: Sendable {
  /// The alignment of every tensor, in bytes.
  static let alignment = ZeroedMemory.alignment

  private let memory: ZeroedMemory

  /// - Throws: `resourceLimit` if the system refuses the memory; small sizes are not refused.
  init(byteCount: Int) throws(ApusError) {
    guard let memory = ZeroedMemory(ifAvailable: byteCount) else {
      throw ApusError(.resourceLimit, "the system refuses \(byteCount) bytes of memory")
    }
    self.memory = memory
  }

  /// The first byte.
  var base: UnsafeMutableRawPointer { unsafe memory.base }

  /// The size in bytes; at least one.
  var byteCount: Int { memory.byteCount }

  /// The bytes, for reading.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      unsafe _overrideLifetime(
        RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: byteCount)), borrowing: self)
    }
  }

  /// Calls `body` with the bytes for writing; the caller must be the object's only owner.
  func withMutableBytes<R>(_ body: (inout MutableRawSpan) -> R) -> R {
    var bytes = unsafe MutableRawSpan(
      _unsafeBytes: UnsafeMutableRawBufferPointer(start: base, count: byteCount))
    return body(&bytes)
  }
}

/// The memory of a tensor while its graph runs.
@safe struct TensorBuffer: @unchecked Sendable {
  // @unchecked: the holder of a buffer owns its bytes, or only reads them.

  /// The first byte, aligned for the element type; nil while the tensor has no memory.
  var base: UnsafeMutableRawPointer?
  /// The size of all elements, in bytes.
  var byteCount: Int

  static var none: TensorBuffer { unsafe TensorBuffer(base: nil, byteCount: 0) }
}
