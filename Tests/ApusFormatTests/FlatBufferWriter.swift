// SPDX-License-Identifier: Apache-2.0

/// A value of a FlatBuffers field, to write test files with.
indirect enum FlatValue {
  case int8(Int8)
  case uint8(UInt8)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case uint64(UInt64)
  case float(Float)
  case string(String)
  case bytes([UInt8])
  case uint16s([UInt16])
  case int32s([Int32])
  case int64s([Int64])
  case floats([Float])
  case strings([String])
  case tables([[Int: FlatValue]])
  case table([Int: FlatValue])
}

/// Writes FlatBuffers from front to back: each table before what it refers to.
struct FlatBufferWriter {
  private(set) var bytes: [UInt8] = []

  /// A whole FlatBuffer with this root table.
  static func file(_ identifier: String, _ root: [Int: FlatValue]) -> [UInt8] {
    var writer = FlatBufferWriter()
    writer.bytes = [0, 0, 0, 0] + Array(identifier.utf8)
    let position = writer.table(root)
    writer.patch(0, UInt32(position))
    return writer.bytes
  }

  private mutating func align(_ alignment: Int) {
    while !bytes.count.isMultiple(of: alignment) { bytes.append(0) }
  }

  private mutating func append<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
  }

  private mutating func patch(_ position: Int, _ value: UInt32) {
    withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(position..<(position + 4), with: $0) }
  }

  private static func size(_ value: FlatValue) -> Int {
    switch value {
    case .int8, .uint8: 1
    case .uint16: 2
    case .uint64: 8
    default: 4
    }
  }

  private mutating func table(_ fields: [Int: FlatValue]) -> Int {
    align(2)
    let slots = (fields.keys.max() ?? -1) + 1
    // The largest fields first, so that each is aligned relative to the table's start.
    let order = fields.keys.sorted { (-Self.size(fields[$0]!), $0) < (-Self.size(fields[$1]!), $1) }
    var offsets = [Int: Int]()
    var inline = 4
    for field in order {
      let size = Self.size(fields[field]!)
      while !inline.isMultiple(of: size) { inline += 1 }
      offsets[field] = inline
      inline += size
    }
    let vtable = bytes.count
    append(UInt16(4 + 2 * slots))
    append(UInt16(inline))
    for slot in 0..<slots { append(UInt16(offsets[slot] ?? 0)) }
    align(8)
    let start = bytes.count
    append(Int32(start - vtable))
    bytes += Array(repeating: 0, count: inline - 4)
    for field in order { write(fields[field]!, at: start + offsets[field]!) }
    return start
  }

  private mutating func store<T: FixedWidthInteger>(_ value: T, _ position: Int) {
    withUnsafeBytes(of: value.littleEndian) {
      bytes.replaceSubrange(position..<(position + $0.count), with: $0)
    }
  }

  private mutating func write(_ value: FlatValue, at position: Int) {
    switch value {
    case .int8(let value): store(value, position)
    case .uint8(let value): store(value, position)
    case .uint16(let value): store(value, position)
    case .int32(let value): store(value, position)
    case .uint32(let value): store(value, position)
    case .uint64(let value): store(value, position)
    case .float(let value): store(value.bitPattern, position)
    case .table(let fields):
      let target = table(fields)
      patch(position, UInt32(target - position))
    case .string(let text):
      refer(position, text.utf8.count) { $0.bytes += Array(text.utf8) + [0] }
    case .bytes(let values):
      align(4)
      while !(bytes.count + 4).isMultiple(of: 16) { bytes += [0, 0, 0, 0] }
      refer(position, values.count) { $0.bytes += values }
    case .uint16s(let values): refer(position, values.count) { for value in values { $0.append(value) } }
    case .int32s(let values): refer(position, values.count) { for value in values { $0.append(value) } }
    case .int64s(let values): refer(position, values.count) { for value in values { $0.append(value) } }
    case .floats(let values):
      refer(position, values.count) { for value in values { $0.append(value.bitPattern) } }
    case .strings(let values): refer(position, values.map(FlatValue.string))
    case .tables(let values): refer(position, values.map(FlatValue.table))
    }
  }

  private mutating func refer(_ position: Int, _ count: Int, _ body: (inout FlatBufferWriter) -> Void) {
    align(4)
    patch(position, UInt32(bytes.count - position))
    append(UInt32(count))
    body(&self)
  }

  /// A vector of references: the slots first, then what they refer to.
  private mutating func refer(_ position: Int, _ values: [FlatValue]) {
    var start = 0
    refer(position, values.count) {
      start = $0.bytes.count
      $0.bytes += Array(repeating: 0, count: 4 * values.count)
    }
    for (index, value) in values.enumerated() { write(value, at: start + 4 * index) }
  }
}
