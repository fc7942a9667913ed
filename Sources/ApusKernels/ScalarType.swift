// SPDX-License-Identifier: Apache-2.0

/// The type of the elements that a kernel reads or writes. Each kernel states the types that it supports.
package enum ScalarType: UInt8, Hashable, Sendable {
  /// Bytes of 0 or 1.
  case bool
  case int8, uint8, int16, uint16, int32, uint32, int64, uint64
  case float16, bfloat16, float32, float64
  case complex64

  /// The size of an element.
  package var byteCount: Int {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16, .float16, .bfloat16: 2
    case .int32, .uint32, .float32: 4
    case .int64, .uint64, .float64, .complex64: 8
    }
  }

  /// Traps, because the caller passed a type that the kernel does not support.
  func isNotTaken() -> Never { preconditionFailure("the kernel does not take \(self)") }
}
