// SPDX-License-Identifier: Apache-2.0
import Apus

/// The element types of the Open Inference Protocol.
public enum DataType: String, CaseIterable, Hashable, Sendable {
  case bool = "BOOL"
  case uint8 = "UINT8"
  case uint16 = "UINT16"
  case uint32 = "UINT32"
  case uint64 = "UINT64"
  case int8 = "INT8"
  case int16 = "INT16"
  case int32 = "INT32"
  case int64 = "INT64"
  case fp16 = "FP16"
  case bf16 = "BF16"
  case fp32 = "FP32"
  case fp64 = "FP64"
  case bytes = "BYTES"

  /// The type by which an engine's type travels; nil for those that have none in the protocol.
  ///
  /// Types of less than a byte travel as the engine keeps them, one element to a byte.
  public init?(_ type: ElementType) {
    switch type {
    case .bool: self = .bool
    case .uint8, .uint4: self = .uint8
    case .uint16: self = .uint16
    case .uint32: self = .uint32
    case .uint64: self = .uint64
    case .int8, .int4, .int2: self = .int8
    case .int16: self = .int16
    case .int32: self = .int32
    case .int64: self = .int64
    case .float16: self = .fp16
    case .bfloat16: self = .bf16
    case .float32: self = .fp32
    case .float64: self = .fp64
    default: return nil
    }
  }

  /// The bytes of one element; nil for `BYTES`, whose elements have any length.
  public var byteCount: Int? {
    switch self {
    case .bool, .uint8, .int8: 1
    case .uint16, .int16, .fp16, .bf16: 2
    case .uint32, .int32, .fp32: 4
    case .uint64, .int64, .fp64: 8
    case .bytes: nil
    }
  }

  /// Whether JSON numbers can stand for its elements: the protocol has none for half precision.
  public var isWrittenAsJSON: Bool { self != .fp16 && self != .bf16 }

  /// The name in a model configuration, such as `TYPE_INT32`.
  public var configurationName: String { self == .bytes ? "TYPE_STRING" : "TYPE_\(rawValue)" }
}
