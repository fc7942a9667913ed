// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension ElementType {
  /// The type as kernels name it; nil if none computes with it.
  private var scalarType: ScalarType? {
    switch self {
    case .bool: .bool
    case .int8: .int8
    case .uint8: .uint8
    case .int16: .int16
    case .uint16: .uint16
    case .int32: .int32
    case .uint32: .uint32
    case .int64: .int64
    case .uint64: .uint64
    case .float16: .float16
    case .bfloat16: .bfloat16
    case .float32: .float32
    case .float64: .float64
    case .complex64: .complex64
    case .string, .complex128, .resource, .variant, .int4, .int2, .uint4, .float8E4M3FN, .float8E5M2: nil
    }
  }

  /// The type as kernels name it; nil if it is not one of `types`.
  func scalarType(in types: ScalarTypes) -> ScalarType? {
    scalarType.flatMap { types.contains($0) ? $0 : nil }
  }
}
