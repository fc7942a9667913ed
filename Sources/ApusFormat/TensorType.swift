// SPDX-License-Identifier: Apache-2.0

/// The type of a tensor's elements: all 23 of the schema.
package enum TensorType: Int8, CaseIterable, Hashable, Sendable {
  /// `FLOAT32`.
  case float32 = 0
  /// `FLOAT16`.
  case float16 = 1
  /// `INT32`.
  case int32 = 2
  /// `UINT8`.
  case uint8 = 3
  /// `INT64`.
  case int64 = 4
  /// `STRING`.
  case string = 5
  /// `BOOL`.
  case bool = 6
  /// `INT16`.
  case int16 = 7
  /// `COMPLEX64`.
  case complex64 = 8
  /// `INT8`.
  case int8 = 9
  /// `FLOAT64`.
  case float64 = 10
  /// `COMPLEX128`.
  case complex128 = 11
  /// `UINT64`.
  case uint64 = 12
  /// `RESOURCE`.
  case resource = 13
  /// `VARIANT`.
  case variant = 14
  /// `UINT32`.
  case uint32 = 15
  /// `UINT16`.
  case uint16 = 16
  /// `INT4`.
  case int4 = 17
  /// `BFLOAT16`.
  case bfloat16 = 18
  /// `INT2`.
  case int2 = 19
  /// `UINT4`.
  case uint4 = 20
  /// `FLOAT8_E4M3FN`.
  case float8E4M3FN = 21
  /// `FLOAT8_E5M2`.
  case float8E5M2 = 22

  /// The type's name in the schema: `FLOAT32`.
  package var schemaName: String {
    switch self {
    case .float32: "FLOAT32"
    case .float16: "FLOAT16"
    case .int32: "INT32"
    case .uint8: "UINT8"
    case .int64: "INT64"
    case .string: "STRING"
    case .bool: "BOOL"
    case .int16: "INT16"
    case .complex64: "COMPLEX64"
    case .int8: "INT8"
    case .float64: "FLOAT64"
    case .complex128: "COMPLEX128"
    case .uint64: "UINT64"
    case .resource: "RESOURCE"
    case .variant: "VARIANT"
    case .uint32: "UINT32"
    case .uint16: "UINT16"
    case .int4: "INT4"
    case .bfloat16: "BFLOAT16"
    case .int2: "INT2"
    case .uint4: "UINT4"
    case .float8E4M3FN: "FLOAT8_E4M3FN"
    case .float8E5M2: "FLOAT8_E5M2"
    }
  }

  /// The bits that one element takes, packed without gaps below eight; nil where the type alone does not say.
  package var bitWidth: Int? {
    switch self {
    case .int2: 2
    case .int4, .uint4: 4
    case .uint8, .int8, .bool, .float8E4M3FN, .float8E5M2: 8
    case .float16, .bfloat16, .int16, .uint16: 16
    case .float32, .int32, .uint32: 32
    case .int64, .uint64, .float64, .complex64: 64
    case .complex128: 128
    case .string, .resource, .variant: nil
    }
  }

  /// The bytes that `elementCount` elements take, the last one filled up.
  ///
  /// Nil where the type alone does not say or the number is too large.
  package func byteCount(_ elementCount: Int) -> Int? {
    guard let bitWidth else { return nil }
    let (bits, overflow) = elementCount.multipliedReportingOverflow(by: bitWidth)
    guard !overflow, bits <= Int.max - 7 else { return nil }
    return (bits + 7) / 8
  }
}
