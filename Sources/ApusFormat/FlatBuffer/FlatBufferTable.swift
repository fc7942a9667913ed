// SPDX-License-Identifier: Apache-2.0

/// A FlatBuffers table whose own bytes and whose vtable's bytes are checked to lie in the file.
///
/// A field is named by its index in the schema's table. An absent field has its default or nil; a present
/// one is checked to lie within the table, and what it refers to within the file.
struct FlatBufferTable {
  /// The bytes that all offsets refer to.
  let reader: ByteReader
  /// Where the table is.
  let header: FlatBufferTableHeader

  /// Checks the table at `position`.
  init(_ reader: ByteReader, at position: Int) throws(FormatError) {
    let distance = Int(try reader.integer(Int32.self, at: position))
    let vtable = position - distance
    let vtableSize = Int(try reader.integer(UInt16.self, at: vtable))
    guard vtableSize >= 4, vtableSize.isMultiple(of: 2), reader.contains(vtableSize, at: vtable) else {
      throw FormatError("the table at byte \(position) has a vtable of \(vtableSize) bytes at \(vtable)")
    }
    let inlineSize = Int(try reader.integer(UInt16.self, at: vtable + 2))
    guard inlineSize >= 4, reader.contains(inlineSize, at: position) else {
      throw FormatError(
        outside: "the table at byte \(position) has \(inlineSize) bytes, and the file \(reader.count)")
    }
    self.reader = reader
    header = FlatBufferTableHeader(
      position: position, vtable: vtable, vtableSize: vtableSize, inlineSize: inlineSize)
  }

  /// A table that was checked before, in the same bytes.
  init(_ reader: ByteReader, checked header: FlatBufferTableHeader) {
    self.reader = reader
    self.header = header
  }

  /// The root table of a FlatBuffer with this four-character identifier.
  static func root(_ reader: ByteReader, identifier: StaticString) throws(FormatError) -> FlatBufferTable {
    guard reader.count >= 8 else {
      throw FormatError(outside: "\(reader.count) bytes are too few for a FlatBuffer")
    }
    let found = try reader.integers(UInt8.self, at: 4, count: 4)
    guard found.elementsEqual(identifier.description.utf8) else {
      let text = found.map { (32..<127).contains($0) ? String(UnicodeScalar($0)) : "?" }.joined()
      throw FormatError("the file identifier is '\(text)', not '\(identifier)'")
    }
    do throws(FormatError) {
      return try FlatBufferTable(reader, at: Int(try reader.integer(UInt32.self, at: 0)))
    } catch {
      throw error.inside("root table")
    }
  }

  /// The offset in the file of a field of `size` bytes, or nil when the field is absent.
  @inline(__always)
  func position(of field: Int, size: Int) throws(FormatError) -> Int? {
    guard field >= 0, field < (header.vtableSize - 4) / 2 else { return nil }
    let offset = Int(try reader.integer(UInt16.self, at: header.vtable + 4 + 2 * field))
    guard offset != 0 else { return nil }
    guard offset >= 4, offset + size <= header.inlineSize else {
      throw FormatError(
        "field \(field) of the table at byte \(header.position) lies at \(offset), "
          + "outside its \(header.inlineSize) bytes"
      )
    }
    return header.position + offset
  }

  /// An integer field.
  @inline(__always)
  func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ field: Int, default value: T
  ) throws(FormatError) -> T {
    guard let position = try position(of: field, size: MemoryLayout<T>.size) else { return value }
    return try reader.integer(T.self, at: position)
  }

  /// A Boolean field: any byte but zero is true.
  func bool(_ field: Int, default value: Bool) throws(FormatError) -> Bool {
    try integer(field, default: UInt8(value ? 1 : 0)) != 0
  }

  /// A 32-bit floating-point field.
  func float(_ field: Int, default value: Float) throws(FormatError) -> Float {
    Float(bitPattern: try integer(field, default: value.bitPattern))
  }

  /// A field that refers to another table.
  func table(_ field: Int) throws(FormatError) -> FlatBufferTable? {
    guard let target = try target(of: field) else { return nil }
    return try FlatBufferTable(reader, at: target)
  }

  /// A vector field whose elements have `elementSize` bytes each.
  func vector(_ field: Int, elementSize: Int) throws(FormatError) -> FlatBufferVector? {
    guard let target = try target(of: field) else { return nil }
    let count = Int(try reader.integer(UInt32.self, at: target))
    // No overflow: the count is below 2³², the element size at most 8.
    guard reader.contains(count * elementSize, at: target + 4) else {
      throw FormatError(
        outside: "a vector at byte \(target) has \(count) elements of \(elementSize) bytes, "
          + "outside the \(reader.count) bytes"
      )
    }
    return FlatBufferVector(start: target + 4, count: count)
  }

  /// A field of text.
  func string(_ field: Int) throws(FormatError) -> String? {
    guard let text = try vector(field, elementSize: 1) else { return nil }
    return try reader.text(at: text.start, length: text.count)
  }

  /// One table of a vector of tables; `index` must be less than the vector's count.
  func table(in vector: FlatBufferVector, at index: Int) throws(FormatError) -> FlatBufferTable {
    let slot = vector.start + 4 * index
    return try FlatBufferTable(reader, at: slot + Int(try reader.integer(UInt32.self, at: slot)))
  }

  /// One text of a vector of texts; `index` must be less than the vector's count.
  func textRange(in vector: FlatBufferVector, at index: Int) throws(FormatError) -> FlatBufferVector {
    let slot = vector.start + 4 * index
    let target = slot + Int(try reader.integer(UInt32.self, at: slot))
    let length = Int(try reader.integer(UInt32.self, at: target))
    guard reader.contains(length, at: target + 4) else {
      throw FormatError(
        outside: "a text of \(length) bytes at byte \(target) ends outside the \(reader.count) bytes")
    }
    return FlatBufferVector(start: target + 4, count: length)
  }

  private func target(of field: Int) throws(FormatError) -> Int? {
    guard let position = try position(of: field, size: 4) else { return nil }
    return position + Int(try reader.integer(UInt32.self, at: position))
  }
}
