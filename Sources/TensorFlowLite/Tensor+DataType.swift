// SPDX-License-Identifier: Apache-2.0

internal import Apus

extension Tensor {
  /// The type of a tensor's elements: those of TensorFlowLiteSwift, and the others that models have.
  public enum DataType: Equatable, Hashable, Sendable {
    /// A byte, where zero is false.
    case bool
    /// An 8-bit unsigned integer.
    case uInt8
    /// A 16-bit signed integer.
    case int16
    /// A 32-bit signed integer.
    case int32
    /// A 64-bit signed integer.
    case int64
    /// A 16-bit float of IEEE 754.
    case float16
    /// A 32-bit float.
    case float32
    /// A 64-bit float.
    case float64

    /// An 8-bit signed integer: what TensorFlow 2 quantizes to, and TensorFlowLiteSwift lacks.
    case int8
    /// A 16-bit unsigned integer.
    case uInt16
    /// A 32-bit unsigned integer.
    case uInt32
    /// A 64-bit unsigned integer.
    case uInt64
    /// A 2-bit signed integer, one in each byte of ``Tensor/data``.
    case int2
    /// A 4-bit signed integer, one in each byte of ``Tensor/data``.
    case int4
    /// A 4-bit unsigned integer, one in each byte of ``Tensor/data``.
    case uInt4
    /// The upper half of a 32-bit float.
    case bfloat16
    /// An 8-bit float with 4 bits of exponent.
    case float8E4M3FN
    /// An 8-bit float with 5 bits of exponent.
    case float8E5M2
    /// Two 32-bit floats: the real part, then the imaginary one.
    case complex64
    /// Two 64-bit floats: the real part, then the imaginary one.
    case complex128

    /// The engine's type under its name here; nil for elements that are not plain bytes.
    init?(_ type: ElementType) {
      switch type {
      case .bool: self = .bool
      case .uint8: self = .uInt8
      case .int16: self = .int16
      case .int32: self = .int32
      case .int64: self = .int64
      case .float16: self = .float16
      case .float32: self = .float32
      case .float64: self = .float64
      case .int8: self = .int8
      case .uint16: self = .uInt16
      case .uint32: self = .uInt32
      case .uint64: self = .uInt64
      case .int2: self = .int2
      case .int4: self = .int4
      case .uint4: self = .uInt4
      case .bfloat16: self = .bfloat16
      case .float8E4M3FN: self = .float8E4M3FN
      case .float8E5M2: self = .float8E5M2
      case .complex64: self = .complex64
      case .complex128: self = .complex128
      case .string, .resource, .variant: return nil
      }
    }
  }
}
