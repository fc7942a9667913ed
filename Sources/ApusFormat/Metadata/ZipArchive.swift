// SPDX-License-Identifier: Apache-2.0

/// A zip archive, also one that is appended to other bytes: the labels of a model with metadata.
///
/// The list of entries is checked when it is read, each entry's bytes when they are requested. Stored and
/// deflated entries are supported; zip64, encryption and archives in several parts are refused.
package struct ZipArchive: Sendable {
  /// One file of the archive.
  package struct Entry: Hashable, Sendable {
    /// The path, with slashes.
    package let name: String
    /// How it is stored: 0 plainly, 8 deflated.
    package let method: Int
    /// The size in the archive, in bytes.
    package let compressedSize: Int
    /// The size after decompression, in bytes.
    package let size: Int
    /// The checksum of its contents.
    package let crc: UInt32
    /// Where its local header is in the bytes.
    let header: Int
    /// Where its data is in the bytes.
    let data: Range<Int>
  }

  /// The files in the order of the archive's directory.
  package let entries: [Entry]

  private let bytes: FileBytes

  /// The maximum ratio of an entry's size to its stored size.
  static let maximumRatio = 256

  /// Reads the directory at the end of `bytes`. Throws if there is none or it is damaged.
  package init(_ bytes: FileBytes) throws(FormatError) {
    guard let archive = try ZipArchive(appendedTo: bytes) else {
      throw FormatError("zip archive: there is no directory at the end of \(bytes.count) bytes")
    }
    self = archive
  }

  /// Reads the directory at the end of `bytes`. Throws if there is none or it is damaged.
  package init(_ bytes: [UInt8]) throws(FormatError) {
    try self.init(FileBytes(copying: bytes))
  }

  /// Reads the directory at the end of `bytes`; nil if there is none.
  package init?(appendedTo bytes: FileBytes) throws(FormatError) {
    do throws(FormatError) {
      let entries = try bytes.withReader { (reader) throws(FormatError) in
        try ZipDirectory(reader)?.entries()
      }
      guard let entries else { return nil }
      self.entries = entries
      self.bytes = bytes
    } catch {
      throw error.inside("zip archive")
    }
  }

  /// The contents of the first entry with this name, their checksum verified.
  ///
  /// Throws if there is no such entry, it is larger than `maximumSize`, or it is damaged.
  package func contents(of name: String, maximumSize: Int = 64 << 20) throws(FormatError) -> [UInt8] {
    do throws(FormatError) {
      guard let entry = entries.first(where: { $0.name == name }) else {
        throw FormatError("there is no such entry")
      }
      return try read(entry, maximumSize)
    } catch {
      throw error.inside("'\(name)'").inside("zip archive")
    }
  }

  /// The contents of an entry, their checksum verified.
  package func contents(of entry: Entry, maximumSize: Int) throws(FormatError) -> [UInt8] {
    do throws(FormatError) { return try read(entry, maximumSize) } catch {
      throw error.inside("'\(entry.name)'").inside("zip archive")
    }
  }

  /// The first name that another entry has, too; nil if all names differ.
  package static func repeatedName(in names: [String]) -> String? {
    var known: Set<String> = []
    return names.first { !known.insert($0).inserted }
  }

  private func read(_ entry: Entry, _ maximumSize: Int) throws(FormatError) -> [UInt8] {
    guard entry.size <= maximumSize else {
      throw FormatError(limit: "it has \(entry.size) bytes, at most \(maximumSize)")
    }
    guard entry.size / Self.maximumRatio <= entry.compressedSize else {
      throw FormatError("\(entry.compressedSize) bytes would expand to \(entry.size)")
    }
    let stored = try bytes.withReader { (reader) throws(FormatError) in
      try reader.integers(UInt8.self, at: entry.data.lowerBound, count: entry.data.count)
    }
    let contents: [UInt8]
    switch entry.method {
    case 0:
      guard entry.size == entry.compressedSize else {
        throw FormatError("it is stored in \(entry.compressedSize) bytes and has \(entry.size)")
      }
      contents = stored
    case 8: contents = try Inflate.inflate(stored, expectedSize: entry.size)
    default: throw FormatError("the compression method \(entry.method) is not supported")
    }
    let found = CRC32.checksum(contents)
    guard found == entry.crc else {
      throw FormatError("the checksum is \(found), not \(entry.crc)")
    }
    return contents
  }
}
