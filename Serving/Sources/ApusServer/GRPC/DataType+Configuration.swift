// SPDX-License-Identifier: Apache-2.0
import ApusServing
import InferenceProtocol

extension DataType {
  /// The type in a model configuration.
  var configurationType: Inference_DataType {
    switch self {
    case .bool: .typeBool
    case .uint8: .typeUint8
    case .uint16: .typeUint16
    case .uint32: .typeUint32
    case .uint64: .typeUint64
    case .int8: .typeInt8
    case .int16: .typeInt16
    case .int32: .typeInt32
    case .int64: .typeInt64
    case .fp16: .typeFp16
    case .bf16: .typeBf16
    case .fp32: .typeFp32
    case .fp64: .typeFp64
    case .bytes: .typeString
    }
  }
}
