// SPDX-License-Identifier: Apache-2.0

/// A FlatBuffers table to be written: just enough of the format to make models for tests.
package struct FlatTable {
  /// One field's value.
  package enum Field {
    case byte(UInt8)
    case int(Int32)
    case long(Int64)
    case float(Float)
    case text(String)
    case ints([Int32])
    case longs([Int64])
    case floats([Float])
    /// Bytes that begin at a multiple of 16.
    case bytes([UInt8])
    case table(FlatTable)
    case tables([FlatTable])
  }

  /// Values by the number of the field in the schema.
  package var fields: [Int: Field]

  package init(_ fields: [Int: Field] = [:]) {
    self.fields = fields
  }

  /// The whole buffer with this table as its root.
  package func file(identifier: String) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 0] + Array(identifier.utf8)
    bytes.patch(0, to: write(into: &bytes))
    return bytes
  }

  /// Writes the table before what it refers to, and returns its position.
  private func write(into bytes: inout [UInt8]) -> Int {
    let numbers = fields.keys.sorted()
    let slots = (numbers.last ?? -1) + 1
    bytes.align(8)
    let vtable = bytes.count
    bytes.appendLittleEndian(UInt16(4 + 2 * slots))
    var places: [Int: Int] = [:]
    var size = 4
    for number in numbers {
      places[number] = size
      if case .long = fields[number] { size += 8 } else { size += 4 }
    }
    bytes.appendLittleEndian(UInt16(size))
    for slot in 0..<slots { bytes.appendLittleEndian(UInt16(places[slot] ?? 0)) }
    bytes.align(4)
    let start = bytes.count
    bytes.appendLittleEndian(Int32(start - vtable))
    for number in numbers {
      switch fields[number] {
      case .byte(let value): bytes.appendLittleEndian(UInt32(value))
      case .int(let value): bytes.appendLittleEndian(value)
      case .long(let value): bytes.appendLittleEndian(value)
      case .float(let value): bytes.appendLittleEndian(value.bitPattern)
      default: bytes.appendLittleEndian(UInt32(0))
      }
    }
    for number in numbers {
      guard let place = places[number], let target = fields[number]?.writeTarget(into: &bytes) else {
        continue
      }
      bytes.patch(start + place, to: target)
    }
    return start
  }
}

extension FlatTable.Field {
  /// Writes what the field refers to; nil for fields that are values.
  fileprivate func writeTarget(into bytes: inout [UInt8]) -> Int? {
    let start: Int
    switch self {
    case .byte, .int, .long, .float: return nil
    case .table(let table): return table.write(into: &bytes)
    case .text(let text):
      start = bytes.begin(count: text.utf8.count, alignment: 4)
      bytes += Array(text.utf8) + [0]
    case .bytes(let values):
      start = bytes.begin(count: values.count, alignment: 16)
      bytes += values
    case .ints(let values):
      start = bytes.begin(count: values.count, alignment: 4)
      for value in values { bytes.appendLittleEndian(value) }
    case .longs(let values):
      start = bytes.begin(count: values.count, alignment: 8)
      for value in values { bytes.appendLittleEndian(value) }
    case .floats(let values):
      start = bytes.begin(count: values.count, alignment: 4)
      for value in values { bytes.appendLittleEndian(value.bitPattern) }
    case .tables(let tables):
      start = bytes.begin(count: tables.count, alignment: 4)
      for _ in tables { bytes.appendLittleEndian(UInt32(0)) }
      for (index, table) in tables.enumerated() {
        bytes.patch(start + 4 + 4 * index, to: table.write(into: &bytes))
      }
    }
    return start
  }
}

extension [UInt8] {
  /// Appends an integer, little-endian.
  package mutating func appendLittleEndian<T: FixedWidthInteger>(_ value: T) {
    for byte in 0..<T.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> T(byte * 8))) }
  }

  /// The CRC-32 of ITU-T V.42.
  package var crc32: UInt32 {
    var sum = ~UInt32(0)
    for byte in self {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xEDB8_8320 }
    }
    return ~sum
  }

  fileprivate mutating func align(_ multiple: Int, offset: Int = 0) {
    while !(count + offset).isMultiple(of: multiple) { append(0) }
  }

  fileprivate mutating func patch(_ position: Int, to target: Int) {
    for byte in 0..<4 { self[position + byte] = UInt8(truncatingIfNeeded: (target - position) >> (8 * byte)) }
  }

  fileprivate mutating func begin(count: Int, alignment: Int) -> Int {
    align(alignment, offset: 4)
    let start = self.count
    appendLittleEndian(UInt32(count))
    return start
  }
}
