// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension ElementType {
  /// The type as elementwise kernels name it; nil if they do not support it.
  var numberType: NumberType? {
    switch self {
    case .float32: .float32
    case .int8: .int8
    case .uint8: .uint8
    case .int16: .int16
    case .uint16: .uint16
    case .int32: .int32
    case .uint32: .uint32
    case .int64: .int64
    default: nil
    }
  }
}
