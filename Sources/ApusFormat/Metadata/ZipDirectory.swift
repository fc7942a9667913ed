// SPDX-License-Identifier: Apache-2.0

/// The directory of a zip archive (APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16).
struct ZipDirectory {
  private static let endSize = 22
  private static let headerSize = 46
  private static let localSize = 30
  /// The most zeros before the first entry.
  private static let maximumPadding = 64

  private let reader: ByteReader
  /// Where the directory begins and ends.
  private let start: Int
  private let end: Int
  private let count: Int
  /// The origin of offsets in the directory: the file's start, or the archive's own.
  private let base: Int

  /// Finds the directory from its end record; nil if there is none.
  init?(_ reader: ByteReader) throws(FormatError) {
    guard let record = try Self.endRecord(reader) else { return nil }
    let disks = (
      try reader.integer(UInt16.self, at: record + 4), try reader.integer(UInt16.self, at: record + 6)
    )
    let counts = (
      try reader.integer(UInt16.self, at: record + 8), try reader.integer(UInt16.self, at: record + 10)
    )
    let size = try reader.integer(UInt32.self, at: record + 12)
    let offset = try reader.integer(UInt32.self, at: record + 16)
    let locator = record - 20
    let hasLocator = locator < 0 ? false : try reader.integer(UInt32.self, at: locator) == 0x0706_4B50
    guard counts.1 != .max, size != .max, offset != .max, !hasLocator else {
      throw FormatError("zip64 is not supported")
    }
    guard disks == (0, 0), counts.0 == counts.1 else { throw FormatError("it is one of several parts") }
    guard Int(size) <= record, Int(offset) <= record - Int(size) else {
      throw FormatError(
        "the directory of \(size) bytes at offset \(offset) does not fit before byte \(record)")
    }
    self.reader = reader
    start = record - Int(size)
    end = record
    count = Int(counts.1)
    base = start - Int(offset)
  }

  /// The last end record whose comment fits into the rest of the file, in its last 65,557 bytes.
  ///
  /// Other bytes may follow the comment, as other readers allow, if a directory ends where the record begins. Where the file begins with
  /// an archive, the record is that archive's: if its end is cut off, another archive among its files may end near the end.
  private static func endRecord(_ reader: ByteReader) throws(FormatError) -> Int? {
    let last = reader.count - endSize
    guard last >= 0 else { return nil }
    for position in stride(from: last, through: max(0, last - Int(UInt16.max)), by: -1) {
      guard try reader.integer(UInt32.self, at: position) == 0x0605_4B50 else { continue }
      let rest = last - position - Int(try reader.integer(UInt16.self, at: position + 20))
      guard rest >= 0, try !isOfInnerArchive(reader, position) else { continue }
      if rest == 0 { return position }
      if try hasDirectory(reader, endingAt: position) { return position }
    }
    return nil
  }

  /// Whether an end record belongs to an archive that begins behind another one, at the file's beginning.
  private static func isOfInnerArchive(_ reader: ByteReader, _ record: Int) throws(FormatError) -> Bool {
    // Zeros before the first entry align it.
    var first = 0
    while first < min(maximumPadding, record), try reader.integer(UInt8.self, at: first) == 0 { first += 1 }
    guard record >= localSize, first <= record - 4,
      try reader.integer(UInt32.self, at: first) == 0x0403_4B50
    else { return false }
    let size = Int(try reader.integer(UInt32.self, at: record + 12))
    let offset = Int(try reader.integer(UInt32.self, at: record + 16))
    return record - size - offset > first
  }

  /// Whether there is a header where the directory of an end record should begin.
  private static func hasDirectory(_ reader: ByteReader, endingAt record: Int) throws(FormatError) -> Bool {
    let count = Int(try reader.integer(UInt16.self, at: record + 10))
    let size = Int(try reader.integer(UInt32.self, at: record + 12))
    guard count > 0, size >= count * headerSize, size <= record else { return false }
    return try reader.integer(UInt32.self, at: record - size) == 0x0201_4B50
  }

  /// All entries, none of which share bytes with another.
  func entries() throws(FormatError) -> [ZipArchive.Entry] {
    var entries: [ZipArchive.Entry] = []
    var position = start
    for index in 0..<count {
      do throws(FormatError) {
        entries.append(try entry(at: &position))
      } catch {
        throw error.inside("entry \(index)")
      }
    }
    var free = 0
    for entry in entries.sorted(by: { $0.header < $1.header }) {
      guard entry.header >= free else { throw FormatError("'\(entry.name)' overlaps another entry") }
      free = entry.data.upperBound
    }
    return entries
  }

  private func entry(at position: inout Int) throws(FormatError) -> ZipArchive.Entry {
    guard end - position >= Self.headerSize, try reader.integer(UInt32.self, at: position) == 0x0201_4B50
    else {
      throw FormatError("there is no header at byte \(position)")
    }
    let flags = try reader.integer(UInt16.self, at: position + 8)
    let method = try reader.integer(UInt16.self, at: position + 10)
    let crc = try reader.integer(UInt32.self, at: position + 16)
    let compressedSize = try reader.integer(UInt32.self, at: position + 20)
    let size = try reader.integer(UInt32.self, at: position + 24)
    let nameLength = Int(try reader.integer(UInt16.self, at: position + 28))
    let extraLength = Int(try reader.integer(UInt16.self, at: position + 30))
    let commentLength = Int(try reader.integer(UInt16.self, at: position + 32))
    let offset = try reader.integer(UInt32.self, at: position + 42)
    let length = Self.headerSize + nameLength + extraLength + commentLength
    guard length <= end - position else { throw FormatError("its header ends outside the directory") }
    let name = try reader.text(at: position + Self.headerSize, length: nameLength)
    position += length

    guard compressedSize != .max, size != .max, offset != .max else {
      throw FormatError("zip64 is not supported")
    }
    guard flags & 1 == 0 else { throw FormatError("'\(name)' is encrypted") }
    let header = base + Int(offset)
    guard header <= start - Self.localSize, try reader.integer(UInt32.self, at: header) == 0x0403_4B50 else {
      throw FormatError("'\(name)' has no local header at byte \(header)")
    }
    let localName = Int(try reader.integer(UInt16.self, at: header + 26))
    let localExtra = Int(try reader.integer(UInt16.self, at: header + 28))
    let data = header + Self.localSize + localName + localExtra
    guard data + Int(compressedSize) <= start else {
      throw FormatError("'\(name)' of \(compressedSize) bytes at \(data) reaches into the directory")
    }
    return ZipArchive.Entry(
      name: name, method: Int(method), compressedSize: Int(compressedSize), size: Int(size), crc: crc,
      header: header, data: data..<(data + Int(compressedSize)))
  }
}
