// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import TestSupport
import Testing

@Suite struct ZipArchiveTests {
  @Test func readsEveryEntry() throws {
    let archive = try ZipArchive(Fixtures.zip)
    #expect(archive.entries.map(\.name) == ["labels.txt", "de.txt", "empty"])
    #expect(archive.entries.map(\.method) == [8, 0, 0])
    #expect(try archive.contents(of: "labels.txt") == Array(Fixtures.text.utf8))
    #expect(try archive.contents(of: "de.txt") == Array("eins\nzwei\n".utf8))
    #expect(try archive.contents(of: "empty") == [])
  }

  @Test func readsAnArchiveBehindOtherBytes() throws {
    // Offsets count from the archive's own start here, ...
    let prefix: [UInt8] = Array(repeating: 0xAB, count: 1001)
    let relative = try ZipArchive(prefix + Fixtures.zip)
    #expect(try relative.contents(of: "labels.txt") == Array(Fixtures.text.utf8))
    // ... and from the file's here.
    let absolute = try ZipArchive(prefix + moved(by: 1001))
    #expect(try absolute.contents(of: "labels.txt") == Array(Fixtures.text.utf8))
    #expect(absolute.entries == relative.entries)
  }

  /// The archive with every offset increased.
  private func moved(by distance: Int) -> [UInt8] {
    var bytes = Fixtures.zip
    for index in bytes.indices.dropLast(4) where bytes[index] == 0x50 && bytes[index + 1] == 0x4B {
      if bytes[index + 2] == 1 { add(distance, to: &bytes, at: index + 42) }
      if bytes[index + 2] == 5 { add(distance, to: &bytes, at: index + 16) }
    }
    return bytes
  }

  private func add(_ distance: Int, to bytes: inout [UInt8], at index: Int) {
    let value = (Int(bytes[index]) | Int(bytes[index + 1]) << 8) + distance
    bytes[index] = UInt8(truncatingIfNeeded: value)
    bytes[index + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }

  @Test func findsTheDirectoryBeforeAComment() throws {
    var bytes = Fixtures.zip
    bytes[bytes.count - 2] = 5
    bytes += Array("hello".utf8)
    #expect(try ZipArchive(bytes).entries.count == 3)
    #expect(try ZipArchive(bytes + [0]).entries.count == 3)
    #expect(try ZipArchive(appendedTo: FileBytes(copying: Array(bytes.dropLast()))) == nil)
  }

  @Test func readsTheLastArchiveBeforeOtherBytes() throws {
    let other = storedArchive([("other", [7])])
    for rest in [
      [0], [UInt8](repeating: 0xFF, count: 1000),
      Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 1, count: 40),
    ] {
      #expect(try ZipArchive(Fixtures.zip + rest).entries.count == 3)
      // As in Python's zipfile, the last of two archives counts, unless the file begins with the first: then the end of that one is missing.
      let prefix: [UInt8] = [0xAB]
      #expect(try ZipArchive(prefix + Fixtures.zip + other + rest).entries.map(\.name) == ["other"])
    }
    // An empty archive says so little that bytes behind it are not one.
    #expect(try ZipArchive(appendedTo: FileBytes(copying: storedArchive([]) + [0])) == nil)
    #expect(try ZipArchive(storedArchive([])).entries.isEmpty)
    let far = Fixtures.zip + [UInt8](repeating: 0, count: 1 << 16)
    #expect(try ZipArchive(appendedTo: FileBytes(copying: far)) == nil)
  }

  @Test("of files of one name, the first is read, such as labels behind a model")
  func readsTheFirstOfAName() throws {
    let archive = try ZipArchive(storedArchive([("a", [1]), ("b", [2]), ("a", [3])]))
    #expect(try archive.contents(of: "a") == [1])
    #expect(ZipArchive.repeatedName(in: archive.entries.map(\.name)) == "a")
    #expect(ZipArchive.repeatedName(in: ["a", "b"]) == nil)
  }

  @Test func tellsNoArchiveFromADamagedOne() throws {
    #expect(try ZipArchive(appendedTo: FileBytes(copying: [])) == nil)
    #expect(try ZipArchive(appendedTo: FileBytes(copying: Array(repeating: 0, count: 100_000))) == nil)
    #expect(throws: FormatError.self) { try ZipArchive([]) }
  }

  /// Where a record of the fixture begins: 1 directory header, 3 local header, 5 end.
  private func record(_ kind: UInt8) throws -> Int {
    try #require(
      Fixtures.zip.indices.first { Array(Fixtures.zip[$0...].prefix(4)) == [0x50, 0x4B, kind, kind + 1] })
  }

  private func message(of bytes: [UInt8], reading name: String? = nil) -> String? {
    do throws(FormatError) {
      let archive = try ZipArchive(bytes)
      if let name { _ = try archive.contents(of: name) }
      return nil
    } catch {
      return error.message
    }
  }

  @Test func refusesZip64ByName() throws {
    let end = try record(5)
    var bytes = Fixtures.zip
    bytes[end + 8] = 0xFF
    bytes[end + 9] = 0xFF
    bytes[end + 10] = 0xFF
    bytes[end + 11] = 0xFF
    #expect(message(of: bytes) == "zip archive: zip64 is not supported")
    let header = try record(1)
    bytes = Fixtures.zip
    bytes.replaceSubrange((header + 24)..<(header + 28), with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(message(of: bytes) == "zip archive, entry 0: zip64 is not supported")
  }

  @Test func refusesEncryptionAndUnknownMethods() throws {
    let header = try record(1)
    var bytes = Fixtures.zip
    bytes[header + 8] |= 1
    #expect(message(of: bytes) == "zip archive, entry 0: 'labels.txt' is encrypted")
    bytes = Fixtures.zip
    bytes[header + 10] = 12
    #expect(
      message(of: bytes, reading: "labels.txt")
        == "zip archive, 'labels.txt': the compression method 12 is not supported")
    #expect(message(of: bytes, reading: "de.txt") == nil)
  }

  @Test func refusesAWrongChecksum() throws {
    let local = try record(3)
    var bytes = Fixtures.zip
    let data = try #require(bytes.indices.first { Array(bytes[$0...].prefix(4)) == Array("eins".utf8) })
    bytes[data] ^= 1
    #expect(message(of: bytes, reading: "de.txt")?.contains("the checksum is") == true)
    #expect(message(of: bytes, reading: "labels.txt") == nil)
    // The directory's checksum counts, not the local header's.
    bytes = Fixtures.zip
    bytes[local + 14] ^= 1
    #expect(message(of: bytes, reading: "labels.txt") == nil)
  }

  @Test func refusesOverlappingEntries() throws {
    let first = try record(1)
    let second = try #require(
      Fixtures.zip.indices.dropFirst(first + 1).first {
        Array(Fixtures.zip[$0...].prefix(4)) == [0x50, 0x4B, 1, 2]
      })
    var bytes = Fixtures.zip
    bytes.replaceSubrange((second + 42)..<(second + 46), with: [0, 0, 0, 0])
    #expect(message(of: bytes) == "zip archive: 'de.txt' overlaps another entry")
  }

  @Test func limitsWhatComesOut() throws {
    let archive = try ZipArchive(Fixtures.zip)
    #expect(throws: FormatError.self) {
      try archive.contents(of: "labels.txt", maximumSize: Fixtures.text.utf8.count - 1)
    }
    // 60 MiB out of three hundred bytes.
    let header = try record(1)
    var bytes = Fixtures.zip
    bytes.replaceSubrange((header + 24)..<(header + 28), with: [0, 0, 0xC0, 3])
    #expect(message(of: bytes, reading: "labels.txt")?.contains("would expand to") == true)
    #expect(throws: FormatError.self) { try archive.contents(of: "absent") }
  }

  @Test func survivesMutationAndTruncation() {
    var random = SeededGenerator(seed: 3)
    func exercise(_ bytes: [UInt8]) {
      guard let archive = try? ZipArchive(bytes) else { return }
      for entry in archive.entries {
        if let contents = try? archive.contents(of: entry.name) {
          #expect(archive.entries.contains { $0.name == entry.name && $0.size == contents.count })
        }
      }
    }
    for length in Fixtures.zip.indices { exercise(Array(Fixtures.zip[..<length])) }
    for length in Fixtures.zip.indices { exercise(Array(Fixtures.zip[length...])) }
    for length in Fixtures.zip.indices { exercise(Fixtures.zip + Fixtures.zip[length...] + [0]) }
    for _ in 0..<20_000 {
      var bytes = Fixtures.zip
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      exercise(bytes)
    }
  }
}
