// SPDX-License-Identifier: Apache-2.0

import Apus

extension ElementType {
  /// The value of `TfLiteType`.
  var code: Int32 {
    switch self {
    case .float32: 1
    case .int32: 2
    case .uint8: 3
    case .int64: 4
    case .string: 5
    case .bool: 6
    case .int16: 7
    case .complex64: 8
    case .int8: 9
    case .float16: 10
    case .float64: 11
    case .complex128: 12
    case .uint64: 13
    case .resource: 14
    case .variant: 15
    case .uint32: 16
    case .uint16: 17
    case .int4: 18
    case .bfloat16: 19
    case .int2: 20
    case .uint4: 21
    case .float8E4M3FN: 22
    case .float8E5M2: 23
    // A type of a later version: `kTfLiteNoType`.
    @unknown default: 0
    }
  }

  /// The type with a value of `TfLiteType`; nil if there is none.
  init?(code: Int32) {
    guard let type = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = type
  }

  /// The name that `TfLiteTypeGetName` returns.
  var cName: StaticString {
    switch self {
    case .float32: "FLOAT32"
    case .int32: "INT32"
    case .uint8: "UINT8"
    case .int64: "INT64"
    case .string: "STRING"
    case .bool: "BOOL"
    case .int16: "INT16"
    case .complex64: "COMPLEX64"
    case .int8: "INT8"
    case .float16: "FLOAT16"
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
    case .float8E4M3FN: "FLOAT8E4M3FN"
    case .float8E5M2: "FLOAT8E5M2"
    @unknown default: "Unknown type"
    }
  }

  /// How many elements share a byte in the memory that clients see.
  private var elementsPerByte: Int {
    switch self {
    case .int4, .uint4: 2
    case .int2: 4
    default: 1
    }
  }

  /// The bytes that clients see for a number of elements; zero for types that are not plain bytes.
  func cByteCount(_ elementCount: Int) -> Int? {
    let divisor = elementsPerByte
    if divisor > 1 { return elementCount / divisor + (elementCount % divisor == 0 ? 0 : 1) }
    let (count, overflow) = elementCount.multipliedReportingOverflow(by: byteCount ?? 0)
    return overflow ? nil : count
  }

  /// Moves elements from a client's memory to the engine's, where each has a byte of its own.
  func unpack(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    let divisor = elementsPerByte
    guard divisor > 1 else {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(target.count)))
      return
    }
    let width = 8 / divisor
    for index in target.indices where index / divisor < source.count {
      let bits = (source[index / divisor] >> UInt8(index % divisor * width)) << UInt8(8 - width)
      target[index] =
        self == .uint4
        ? bits >> UInt8(8 - width) : UInt8(bitPattern: Int8(bitPattern: bits) >> Int8(8 - width))
    }
  }

  /// Moves elements from the engine's memory to a client's, where several may share a byte.
  func pack(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    let divisor = elementsPerByte
    guard divisor > 1 else {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(target.count)))
      return
    }
    let width = 8 / divisor
    for index in target.indices { target[index] = 0 }
    for index in source.indices where index / divisor < target.count {
      target[index / divisor] |= (source[index] & ((1 << UInt8(width)) - 1)) << UInt8(index % divisor * width)
    }
  }
}
