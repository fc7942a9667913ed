// SPDX-License-Identifier: Apache-2.0

/// The options of one operator: a table of the schema's `BuiltinOptions` union, whose frame is checked.
///
/// A field is named by its index in the schema's table. An absent field, and every field of an absent table,
/// has its default; a field that lies outside its table throws.
package struct OptionsTable: Sendable {
  /// The options of an operator without any: every field has its default.
  package static let empty = OptionsTable()

  /// The longest vector or text, in elements, that options may have.
  package static let maximumCount = 1 << 16

  private let storage: (bytes: FileBytes, header: FlatBufferTableHeader)?

  private init() {
    storage = nil
  }

  /// Options that a checked table of `bytes` holds.
  init(_ bytes: FileBytes, _ table: FlatBufferTableHeader) {
    storage = (bytes, table)
  }

  /// Whether the file has no such table.
  package var isEmpty: Bool { storage == nil }

  /// A signed byte, also the value of an enumeration.
  package func int8(_ field: Int, default value: Int8) throws(FormatError) -> Int8 {
    try integer(field, value)
  }

  /// An unsigned byte.
  package func uint8(_ field: Int, default value: UInt8) throws(FormatError) -> UInt8 {
    try integer(field, value)
  }

  /// A Boolean: any byte but zero is true.
  package func bool(_ field: Int, default value: Bool) throws(FormatError) -> Bool {
    try integer(field, UInt8(value ? 1 : 0)) != 0
  }

  /// A signed 32-bit integer.
  package func int32(_ field: Int, default value: Int32) throws(FormatError) -> Int32 {
    try integer(field, value)
  }

  /// A signed 64-bit integer.
  package func int64(_ field: Int, default value: Int64) throws(FormatError) -> Int64 {
    try integer(field, value)
  }

  /// An unsigned 32-bit integer.
  package func uint32(_ field: Int, default value: UInt32) throws(FormatError) -> UInt32 {
    try integer(field, value)
  }

  /// A 32-bit floating-point number, NaN and infinities included.
  package func float(_ field: Int, default value: Float) throws(FormatError) -> Float {
    Float(bitPattern: try integer(field, value.bitPattern))
  }

  /// A vector of 32-bit integers, or nil when it is absent; throws above ``maximumCount`` elements.
  package func int32Vector(_ field: Int) throws(FormatError) -> [Int32]? {
    try vector(field, Int32.self) { $0 }
  }

  /// A vector of 64-bit integers, or nil when it is absent; throws above ``maximumCount`` elements.
  package func int64Vector(_ field: Int) throws(FormatError) -> [Int64]? {
    try vector(field, Int64.self) { $0 }
  }

  /// A vector of bytes, or nil when it is absent; throws above ``maximumCount`` elements.
  package func uint8Vector(_ field: Int) throws(FormatError) -> [UInt8]? {
    try vector(field, UInt8.self) { $0 }
  }

  /// A vector of 32-bit floating-point numbers, or nil when it is absent; throws above ``maximumCount``.
  package func floatVector(_ field: Int) throws(FormatError) -> [Float]? {
    try vector(field, UInt32.self) { Float(bitPattern: $0) }
  }

  /// A text, or nil when it is absent; throws above ``maximumCount`` bytes.
  package func string(_ field: Int) throws(FormatError) -> String? {
    try withTable { (table) throws(FormatError) in
      guard let text = try table.vector(field, elementSize: 1) else { return nil }
      try Self.check(text.count, field)
      return try table.reader.text(at: text.start, length: text.count)
    } ?? nil
  }

  /// A table, or nil when it is absent.
  package func table(_ field: Int) throws(FormatError) -> OptionsTable? {
    guard let storage else { return nil }
    return try withTable { (table) throws(FormatError) in
      try table.table(field).map { OptionsTable(storage.bytes, $0.header) }
    } ?? nil
  }

  private func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ field: Int, _ value: T
  ) throws(FormatError) -> T {
    try withTable { (table) throws(FormatError) in try table.integer(field, default: value) } ?? value
  }

  private func vector<T: FixedWidthInteger & BitwiseCopyable, R>(
    _ field: Int, _ type: T.Type, _ transform: (T) -> R
  ) throws(FormatError) -> [R]? {
    try withTable { (table) throws(FormatError) -> [R]? in
      guard let vector = try table.vector(field, elementSize: MemoryLayout<T>.size) else { return nil }
      try Self.check(vector.count, field)
      return try table.reader.map(T.self, at: vector.start, count: vector.count, transform)
    } ?? nil
  }

  private func withTable<R>(_ body: (FlatBufferTable) throws(FormatError) -> R) throws(FormatError) -> R? {
    guard let storage else { return nil }
    return try storage.bytes.withReader { (reader) throws(FormatError) in
      try body(FlatBufferTable(reader, checked: storage.header))
    }
  }

  private static func check(_ count: Int, _ field: Int) throws(FormatError) {
    guard count <= maximumCount else {
      throw FormatError("options field \(field) has \(count) elements, at most \(maximumCount)")
    }
  }
}
