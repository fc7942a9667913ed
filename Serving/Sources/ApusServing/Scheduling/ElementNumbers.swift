// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// The elements of a tensor as numbers.
struct ElementNumbers {
  private let buffer: ByteBuffer
  private let datatype: DataType

  init(_ buffer: ByteBuffer, _ datatype: DataType) {
    self.buffer = buffer
    self.datatype = datatype
  }

  private func integer<T: FixedWidthInteger>(_ index: Int, _ type: T.Type) -> T {
    let place = buffer.readerIndex + index * MemoryLayout<T>.size
    return buffer.getInteger(at: place, endianness: .little) ?? 0
  }

  /// An element's value; whole numbers beyond 2⁵³ are rounded.
  func value(at index: Int) -> Double {
    switch datatype {
    case .bool: integer(index, UInt8.self) == 0 ? 0 : 1
    case .uint8: Double(integer(index, UInt8.self))
    case .uint16: Double(integer(index, UInt16.self))
    case .uint32: Double(integer(index, UInt32.self))
    case .uint64: Double(integer(index, UInt64.self))
    case .int8: Double(integer(index, Int8.self))
    case .int16: Double(integer(index, Int16.self))
    case .int32: Double(integer(index, Int32.self))
    case .int64: Double(integer(index, Int64.self))
    case .fp16: Self.half(integer(index, UInt16.self))
    case .bf16: Double(Float(bitPattern: UInt32(integer(index, UInt16.self)) << 16))
    case .fp32: Double(Float(bitPattern: integer(index, UInt32.self)))
    case .fp64: Double(bitPattern: integer(index, UInt64.self))
    case .bytes: 0
    }
  }

  /// An element's value as the classification extension writes it: floats with six decimals.
  func text(at index: Int) -> String {
    switch datatype {
    case .uint64: return String(integer(index, UInt64.self))
    case .int64: return String(integer(index, Int64.self))
    case .fp16, .bf16, .fp32, .fp64: return String(format: "%f", value(at: index))
    default: return String(Int(value(at: index)))
    }
  }

  /// The value of half-precision bits.
  private static func half(_ bits: UInt16) -> Double {
    let sign: Double = bits & 0x8000 == 0 ? 1 : -1
    let exponent = Int(bits >> 10 & 0x1F)
    let fraction = Double(bits & 0x3FF)
    switch exponent {
    case 0: return sign * fraction * 0x1p-24
    case 31: return fraction == 0 ? sign * .infinity : .nan
    default:
      return sign * (1 + fraction / 1_024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
    }
  }
}
