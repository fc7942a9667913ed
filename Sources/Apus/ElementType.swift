// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The type of a tensor's elements: all 23 that the `.tflite` schema names.
///
/// Source: `TensorType` in `schema.fbs`, version 3.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ElementType: String, CaseIterable, Hashable, Sendable {
  /// A 32-bit float of IEEE 754.
  case float32
  /// A 16-bit float of IEEE 754.
  case float16
  /// A 32-bit signed integer.
  case int32
  /// An 8-bit unsigned integer.
  case uint8
  /// A 64-bit signed integer.
  case int64
  /// A string of any length. No operator of this build takes strings.
  case string
  /// A byte, where zero is false.
  case bool
  /// A 16-bit signed integer.
  case int16
  /// Two 32-bit floats: the real part, then the imaginary one.
  case complex64
  /// An 8-bit signed integer.
  case int8
  /// A 64-bit float of IEEE 754.
  case float64
  /// Two 64-bit floats: the real part, then the imaginary one.
  case complex128
  /// A 64-bit unsigned integer.
  case uint64
  /// The handle of a variable that operators share.
  case resource
  /// A value of any type, as TensorFlow's lists are.
  case variant
  /// A 32-bit unsigned integer.
  case uint32
  /// A 16-bit unsigned integer.
  case uint16
  /// A 4-bit signed integer: two to a byte in a file, one in memory.
  case int4
  /// The upper half of a 32-bit float.
  case bfloat16
  /// A 2-bit signed integer: four to a byte in a file, one in memory.
  case int2
  /// A 4-bit unsigned integer: two to a byte in a file, one in memory.
  case uint4
  /// An 8-bit float with 4 bits of exponent, without infinities.
  case float8E4M3FN
  /// An 8-bit float with 5 bits of exponent.
  case float8E5M2

  /// The public name of a type that a file names.
  package init(_ type: TensorType) {
    self =
      switch type {
      case .float32: .float32
      case .float16: .float16
      case .int32: .int32
      case .uint8: .uint8
      case .int64: .int64
      case .string: .string
      case .bool: .bool
      case .int16: .int16
      case .complex64: .complex64
      case .int8: .int8
      case .float64: .float64
      case .complex128: .complex128
      case .uint64: .uint64
      case .resource: .resource
      case .variant: .variant
      case .uint32: .uint32
      case .uint16: .uint16
      case .int4: .int4
      case .bfloat16: .bfloat16
      case .int2: .int2
      case .uint4: .uint4
      case .float8E4M3FN: .float8E4M3FN
      case .float8E5M2: .float8E5M2
      }
  }

  /// The bytes of one element in memory; nil for types without a fixed width.
  ///
  /// Elements of less than a byte are unpacked when a model is loaded, and take one byte each.
  public var byteCount: Int? { bitCount.map { ($0 + 7) / 8 } }

  /// The bits of one element in a file; nil for types without a fixed width.
  var bitCount: Int? {
    switch self {
    case .int2: 2
    case .int4, .uint4: 4
    case .bool, .int8, .uint8, .float8E4M3FN, .float8E5M2: 8
    case .float16, .bfloat16, .int16, .uint16: 16
    case .float32, .int32, .uint32: 32
    case .int64, .uint64, .float64, .complex64: 64
    case .complex128: 128
    case .string, .resource, .variant: nil
    }
  }

  /// Bytes that one element takes in a graph's memory; a resource is stored as its handle.
  var storedByteCount: Int? { self == .resource ? 4 : byteCount }

  /// Whether several elements share a byte in a file.
  var isPacked: Bool { bitCount.map { $0 < 8 } ?? false }

  /// Whether elements of this type can represent real numbers with a scale and a zero point.
  var isQuantizable: Bool {
    switch self {
    case .uint8, .int8, .int16, .int32, .int4, .int2, .uint4, .int64, .uint16: true
    case .float32, .float16, .bfloat16, .float64, .string, .bool, .complex64, .complex128, .uint32, .uint64,
      .resource, .variant, .float8E4M3FN, .float8E5M2:
      false
    }
  }
}

extension ElementType: CustomStringConvertible {
  /// The case's name.
  public var description: String { rawValue }
}

/// A Swift type whose values have the same layout as a tensor's elements.
public protocol TensorElement: BitwiseCopyable, Sendable {
  /// The tensor element type that this Swift type reads and writes.
  static var elementType: ElementType { get }
}

extension Float: TensorElement {
  /// `float32`.
  public static var elementType: ElementType { .float32 }
}
extension Double: TensorElement {
  /// `float64`.
  public static var elementType: ElementType { .float64 }
}
extension UInt8: TensorElement {
  /// `uint8`; also reads the unpacked `uint4`, and `bool`.
  public static var elementType: ElementType { .uint8 }
}
extension Int8: TensorElement {
  /// `int8`; also reads the unpacked `int4` and `int2`.
  public static var elementType: ElementType { .int8 }
}
extension Int16: TensorElement {
  /// `int16`.
  public static var elementType: ElementType { .int16 }
}
extension UInt16: TensorElement {
  /// `uint16`; also reads the bits of `float16` and `bfloat16`.
  public static var elementType: ElementType { .uint16 }
}
extension Int32: TensorElement {
  /// `int32`; also reads the handles of `resource`.
  public static var elementType: ElementType { .int32 }
}
extension UInt32: TensorElement {
  /// `uint32`.
  public static var elementType: ElementType { .uint32 }
}
extension Int64: TensorElement {
  /// `int64`.
  public static var elementType: ElementType { .int64 }
}
extension UInt64: TensorElement {
  /// `uint64`.
  public static var elementType: ElementType { .uint64 }
}
extension Bool: TensorElement {
  /// `bool`.
  public static var elementType: ElementType { .bool }
}

extension ElementType {
  /// Whether a span of the Swift type that reads `other` may view this type's memory.
  func isReadable(as other: ElementType) -> Bool {
    if self == other { return true }
    switch (self, other) {
    // A bool tensor may hold any bytes: zero is false, everything else true.
    case (.bool, .uint8): return true
    case (.int4, .int8), (.int2, .int8), (.uint4, .uint8), (.float16, .uint16), (.bfloat16, .uint16):
      return true
    case (.resource, .int32): return true
    default: return false
    }
  }
}
