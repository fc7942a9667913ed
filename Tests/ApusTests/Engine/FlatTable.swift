// SPDX-License-Identifier: Apache-2.0

/// A FlatBuffers table to be written: just enough of the format to make models for tests.
struct FlatTable {
  /// One field's value.
  enum Field {
    case byte(UInt8)
    case int(Int32)
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
  var fields: [Int: Field]

  init(_ fields: [Int: Field] = [:]) {
    self.fields = fields
  }

  /// The whole buffer with this table as its root.
  func file(identifier: String) -> [UInt8] {
    var writer = FlatWriter()
    writer.append(UInt32(0))
    writer.bytes += Array(identifier.utf8)
    writer.patch(0, to: writer.write(self))
    return writer.bytes
  }
}

/// Writes parents before children, so that all references lead forward.
private struct FlatWriter {
  var bytes: [UInt8] = []

  mutating func append<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) }
  }

  mutating func patch(_ position: Int, to target: Int) {
    withUnsafeBytes(of: UInt32(target - position).littleEndian) {
      bytes.replaceSubrange(position..<position + 4, with: Array($0))
    }
  }

  private mutating func align(_ multiple: Int, offset: Int = 0) {
    while (bytes.count + offset) % multiple != 0 { bytes.append(0) }
  }

  mutating func write(_ table: FlatTable) -> Int {
    let slots = (table.fields.keys.max() ?? -1) + 1
    let numbers = table.fields.keys.sorted()
    align(8)
    let vtable = bytes.count
    append(UInt16(4 + 2 * slots))
    append(UInt16(4 + 4 * numbers.count))
    for slot in 0..<slots {
      let place = numbers.firstIndex(of: slot)
      append(UInt16(place.map { 4 + 4 * $0 } ?? 0))
    }
    align(4)
    let start = bytes.count
    append(Int32(start - vtable))
    for number in numbers {
      switch table.fields[number] {
      case .byte(let value): append(UInt32(value))
      case .int(let value): append(value)
      case .float(let value): append(value.bitPattern)
      default: append(UInt32(0))
      }
    }
    for (place, number) in numbers.enumerated() {
      guard let field = table.fields[number], let target = writeTarget(of: field) else { continue }
      patch(start + 4 + 4 * place, to: target)
    }
    return start
  }

  /// Writes what a field refers to; nil for fields that are values.
  private mutating func writeTarget(of field: FlatTable.Field) -> Int? {
    switch field {
    case .byte, .int, .float: return nil
    case .table(let table): return write(table)
    case .text(let text):
      let start = begin(count: text.utf8.count, alignment: 4)
      bytes += Array(text.utf8) + [0]
      return start
    case .bytes(let values):
      let start = begin(count: values.count, alignment: 16)
      bytes += values
      return start
    case .ints(let values):
      let start = begin(count: values.count, alignment: 4)
      for value in values { append(value) }
      return start
    case .longs(let values):
      let start = begin(count: values.count, alignment: 8)
      for value in values { append(value) }
      return start
    case .floats(let values):
      let start = begin(count: values.count, alignment: 4)
      for value in values { append(value.bitPattern) }
      return start
    case .tables(let tables):
      let start = begin(count: tables.count, alignment: 4)
      for _ in tables { append(UInt32(0)) }
      for (index, table) in tables.enumerated() {
        patch(start + 4 + 4 * index, to: write(table))
      }
      return start
    }
  }

  /// Writes a vector's count so that its first element is aligned.
  private mutating func begin(count: Int, alignment: Int) -> Int {
    align(max(alignment, 4), offset: 4)
    let start = bytes.count
    append(UInt32(count))
    return start
  }
}
