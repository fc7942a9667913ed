// SPDX-License-Identifier: Apache-2.0

/// A decoded FlexBuffers value, with the conversions of the format's reference reader.
package enum FlexBufferValue: Hashable, Sendable {
  /// Nothing.
  case null
  /// A signed integer of any width, stored in place or apart.
  case int(Int64)
  /// An unsigned integer of any width, stored in place or apart.
  case uint(UInt64)
  /// A number of 16, 32 or 64 bits, stored in place or apart.
  case float(Double)
  /// A Boolean.
  case bool(Bool)
  /// A text.
  case string(String)
  /// A text in the place of a value that is normally a map's key.
  case key(String)
  /// Bytes.
  case blob([UInt8])
  /// Values of any types: also typed vectors and those of fixed length.
  case vector([FlexBufferValue])
  /// Values by name.
  case map(FlexBufferMap)

  /// As a signed integer: numbers are truncated and clamped, texts parsed, vectors counted; otherwise 0.
  package var int64: Int64 {
    switch self {
    case .int(let value): value
    case .uint(let value): Int64(truncatingIfNeeded: value)
    case .float(let value): Self.clamped(value)
    case .bool(let value): value ? 1 : 0
    case .string(let text): Int64(text) ?? 0
    case .vector(let values): Int64(values.count)
    case .null, .key, .blob, .map: 0
    }
  }

  /// As a number: texts are parsed, vectors counted; otherwise 0.
  package var double: Double {
    switch self {
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    case .float(let value): value
    case .bool(let value): value ? 1 : 0
    case .string(let text): Double(text) ?? 0
    case .vector(let values): Double(values.count)
    case .null, .key, .blob, .map: 0
    }
  }

  /// Whether the value as an integer differs from 0.
  package var bool: Bool { int64 != 0 }

  /// The text, where this is one.
  package var string: String? {
    switch self {
    case .string(let text), .key(let text): text
    default: nil
    }
  }

  /// The elements, where this is a vector.
  package var vector: [FlexBufferValue]? {
    if case .vector(let values) = self { values } else { nil }
  }

  private static func clamped(_ value: Double) -> Int64 {
    if value.isNaN { return 0 }
    // 2⁶³ itself is the first value that does not fit.
    if value >= 0x1p63 { return .max }
    return value < -0x1p63 ? .min : Int64(value)
  }
}
