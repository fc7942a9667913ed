// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// Reads a tensor's elements from JSON: nested arrays or a flat one, in row-major order.
struct JSONTensor {
  /// The type that the client declares.
  let datatype: String
  /// The declared shape, which nested arrays must have.
  let shape: [Int]
  /// The elements of the declared shape.
  let expectedCount: Int
  /// The input's name, for errors.
  let label: String

  /// Reads the elements as little-endian bytes, or as strings for `BYTES`.
  ///
  /// More elements than expected are an error at once, so that memory is bounded by the shape and the body.
  func read(_ reader: inout JSONReader) throws(ServingError) -> RequestDescription.Data {
    guard let type = DataType(rawValue: datatype) else {
      throw ServingError.bad("there is no datatype '\(datatype)'").at(label)
    }
    if type == .bytes { return try strings(&reader) }
    guard type.isWrittenAsJSON else {
      throw ServingError.bad("\(datatype) has no form in JSON: send it as binary data").at(label)
    }
    // The buffer grows with the elements that are there: a large shape alone takes no memory.
    var buffer = ByteBufferAllocator().buffer(capacity: min(expectedCount, 1 << 10) * (type.byteCount ?? 1))
    var count = 0
    switch type {
    case .bool:
      try each(&reader, &count) { reader throws(ServingError) in
        buffer.writeInteger(UInt8(try reader.bool() ? 1 : 0))
      }
    case .uint8: try integers(UInt8.self, &reader, &count, &buffer)
    case .uint16: try integers(UInt16.self, &reader, &count, &buffer)
    case .uint32: try integers(UInt32.self, &reader, &count, &buffer)
    case .uint64: try integers(UInt64.self, &reader, &count, &buffer)
    case .int8: try integers(Int8.self, &reader, &count, &buffer)
    case .int16: try integers(Int16.self, &reader, &count, &buffer)
    case .int32: try integers(Int32.self, &reader, &count, &buffer)
    case .int64: try integers(Int64.self, &reader, &count, &buffer)
    case .fp32:
      try each(&reader, &count) { reader throws(ServingError) in
        let number = try reader.number()
        let value = reader.float(number)
        guard value.isFinite else { throw .bad("\(reader.text(number)) is beyond FP32") }
        buffer.writeInteger(value.bitPattern, endianness: .little)
      }
    case .fp64:
      try each(&reader, &count) { reader throws(ServingError) in
        let number = try reader.number()
        let value = reader.double(number)
        guard value.isFinite else { throw .bad("\(reader.text(number)) is beyond FP64") }
        buffer.writeInteger(value.bitPattern, endianness: .little)
      }
    case .fp16, .bf16, .bytes: break
    }
    return .elements(buffer, count: count)
  }

  private func integers<T: FixedWidthInteger>(
    _ type: T.Type, _ reader: inout JSONReader, _ count: inout Int, _ buffer: inout ByteBuffer
  ) throws(ServingError) {
    try each(&reader, &count) { reader throws(ServingError) in
      let number = try reader.number()
      guard let value = reader.integer(number, as: type) else {
        throw .bad("\(reader.text(number)) is no \(datatype), a whole number within \(T.min) to \(T.max)")
      }
      buffer.writeInteger(value, endianness: .little)
    }
  }

  /// The elements of `BYTES`: text, or base64 for encoded pictures, which no text can be.
  private func strings(_ reader: inout JSONReader) throws(ServingError) -> RequestDescription.Data {
    var strings: [ByteChunks] = []
    var count = 0
    try each(&reader, &count) { reader throws(ServingError) in
      guard strings.count < RequestDescription.maximumStrings else {
        throw .bad("BYTES have more than \(RequestDescription.maximumStrings) elements")
      }
      let text = try reader.stringBytes()
      let bytes = Self.base64(text).map { ByteBuffer(bytes: $0) } ?? ByteBuffer(bytes: text)
      strings.append(ByteChunks(bytes))
    }
    return .strings(strings)
  }

  /// The bytes of base64, of either alphabet, with or without breaks of lines, padding or the beginning of a `data:` URL; nil for other
  /// text.
  private static func base64(_ text: [UInt8]) -> Data? {
    var text = text[...]
    if text.starts(with: "data:".utf8), let comma = text.firstIndex(of: UInt8(ascii: ",")),
      String(decoding: text[..<comma], as: UTF8.self).hasSuffix(";base64")
    {
      text = text[(comma + 1)...]
    }
    var plain = Data(capacity: text.count + 3)
    for byte in text {
      switch byte {
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
      case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
      default: plain.append(byte)
      }
    }
    while !plain.count.isMultiple(of: 4) { plain.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: plain)
  }

  /// Reads every element of an array, or of arrays within it that have the declared shape.
  private func each(
    _ reader: inout JSONReader, _ count: inout Int, _ body: (inout JSONReader) throws(ServingError) -> Void
  ) throws(ServingError) {
    guard reader.peek() == UInt8(ascii: "[") else {
      throw ServingError.bad("data is not an array").at(label)
    }
    var isNested = false
    var length = 0
    try reader.array { index, reader throws(ServingError) in
      let isArray = reader.peek() == UInt8(ascii: "[")
      if index == 0 { isNested = isArray }
      length = index + 1
      if isNested {
        try elements(&reader, 1, &count, body)
      } else if isArray {
        throw ServingError.bad("data is neither flat nor nested: element \(index) alone is an array").at(
          label)
      } else {
        try element(&reader, &count, body)
      }
    }
    if isNested { try check(length, 0) }
  }

  /// Checks the length of an array at a depth of the nesting.
  private func check(_ length: Int, _ depth: Int) throws(ServingError) {
    guard depth < shape.count, length == shape[depth] else {
      let expected = depth < shape.count ? "\(shape[depth])" : "none"
      throw ServingError.bad(
        "data is nested otherwise than the shape \(shape): an array at depth \(depth) has \(length) elements, "
          + "not \(expected)"
      ).at(label)
    }
  }

  /// Reads an array within the data, or an element where the shape ends.
  private func elements(
    _ reader: inout JSONReader, _ depth: Int, _ count: inout Int,
    _ body: (inout JSONReader) throws(ServingError) -> Void
  ) throws(ServingError) {
    let isArray = reader.peek() == UInt8(ascii: "[")
    guard isArray == (depth < shape.count) else {
      throw ServingError.bad(
        "data is nested otherwise than the shape \(shape): there is \(isArray ? "an array" : "an element") "
          + "at depth \(depth)"
      ).at(label)
    }
    guard isArray else { return try element(&reader, &count, body) }
    var length = 0
    try reader.array { index, reader throws(ServingError) in
      length = index + 1
      try elements(&reader, depth + 1, &count, body)
    }
    try check(length, depth)
  }

  private func element(
    _ reader: inout JSONReader, _ count: inout Int, _ body: (inout JSONReader) throws(ServingError) -> Void
  ) throws(ServingError) {
    guard count < expectedCount else {
      throw ServingError.bad("data has more than the \(expectedCount) elements of the shape").at(label)
    }
    do { try body(&reader) } catch {
      let found = error.message
      throw ServingError.bad("\(found)").at("\(label), data element \(count)")
    }
    count += 1
  }
}

extension JSONWriter {
  /// Writes a tensor's elements, flat.
  mutating func elements(_ buffer: ByteBuffer, _ datatype: DataType) {
    var buffer = buffer
    switch datatype {
    case .bool: while let value = buffer.readInteger(as: UInt8.self) { bool(value != 0) }
    case .uint8: integers(UInt8.self, &buffer)
    case .uint16: integers(UInt16.self, &buffer)
    case .uint32: integers(UInt32.self, &buffer)
    case .uint64: integers(UInt64.self, &buffer)
    case .int8: integers(Int8.self, &buffer)
    case .int16: integers(Int16.self, &buffer)
    case .int32: integers(Int32.self, &buffer)
    case .int64: integers(Int64.self, &buffer)
    case .fp32:
      while let bits = buffer.readInteger(endianness: .little, as: UInt32.self) {
        number(Float(bitPattern: bits))
      }
    case .fp64:
      while let bits = buffer.readInteger(endianness: .little, as: UInt64.self) {
        number(Double(bitPattern: bits))
      }
    case .bytes:
      while let length = buffer.readInteger(endianness: .little, as: UInt32.self),
        let text = buffer.readString(length: Int(length))
      { string(text) }
    case .fp16, .bf16: break
    }
  }

  private mutating func integers<T: FixedWidthInteger>(_ type: T.Type, _ buffer: inout ByteBuffer) {
    while let value = buffer.readInteger(endianness: .little, as: type) { integer(value) }
  }
}
