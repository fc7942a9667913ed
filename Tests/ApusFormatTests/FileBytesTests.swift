// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Foundation
import TestSupport
import Testing

@Suite struct FileBytesTests {
  /// Calls `body` with the path of a file of these bytes, which is removed afterwards.
  private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "file")
      try Data(bytes).write(to: file)
      try body(file.path)
    }
  }

  @Test("reading and mapping give the file's bytes", arguments: [0, 1, 63, 64, 4096, 100_003])
  func readsAFile(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try withFile(bytes) { path in
      for file in [try FileBytes(readingFileAt: path), try FileBytes(mappingFileAt: path)] {
        #expect(file.count == count)
        #expect(file.withUnsafeBytes { Array($0) } == bytes)
        #expect(Int(bitPattern: file.baseAddress).isMultiple(of: FileBytes.alignment))
      }
    }
  }

  @Test("a file that stays open is read where someone asks for it")
  func parts() throws {
    let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31) | 1 }
    try withFile(bytes) { path in
      #expect(try !FileBytes(readingFileAt: path).hasParts)
      let file = try FileBytes(readingFileAt: path, keepsOpen: true)
      try #require(file.hasParts)
      func isRight(_ range: Range<Int>) -> Bool {
        file.withUnsafeBytes { Array($0[range]) } == Array(bytes[range])
      }
      #expect(!file.contains(0..<1) && file.contains(7..<7))
      try file.require(50_000..<60_000)
      #expect(file.contains(50_000..<60_000) && isRight(50_000..<60_000))
      #expect(!file.contains(50_000..<200_000) && !file.contains(399_999..<400_000))
      // A copy leaves the range itself as it is.
      let range = 100_001..<300_003
      var copy = [UInt8](repeating: 0, count: range.count)
      try copy.withUnsafeMutableBytes { try file.copyFromFile(range, to: #require($0.baseAddress)) }
      #expect(copy == Array(bytes[range]) && !file.contains(range))
      try file.require(0..<bytes.count)
      #expect(file.contains(0..<bytes.count) && isRight(0..<bytes.count))
      #expect(throws: FormatError.self) { try file.require(399_999..<400_001) }
    }
  }

  @Test func copiesAreAligned() {
    let copy = FileBytes(copying: [1, 2, 3])
    #expect(copy.withUnsafeBytes { Array($0) } == [1, 2, 3])
    #expect(Int(bitPattern: copy.baseAddress).isMultiple(of: 64))
    #expect(FileBytes(copying: []).count == 0)
    let again = copy.withUnsafeBytes { FileBytes(copying: UnsafeRawBufferPointer(rebasing: $0[1...])) }
    #expect(again.withUnsafeBytes { Array($0) } == [2, 3])
  }

  private func message(_ body: () throws(FormatError) -> FileBytes) -> String? {
    do throws(FormatError) {
      _ = try body()
      return nil
    } catch {
      return error.message
    }
  }

  @Test func refusesWhatIsNoFile() throws {
    let folder = message { () throws(FormatError) in try FileBytes(readingFileAt: "/dev") }
    #expect(folder == "cannot read '/dev': it is a folder")
    let absent = message { () throws(FormatError) in try FileBytes(readingFileAt: "/absent/file") }
    #expect(absent == "cannot open '/absent/file': No such file or directory")
    let device = message { () throws(FormatError) in try FileBytes(mappingFileAt: "/dev/null") }
    #expect(device == "cannot read '/dev/null': it is not a regular file")
    let zero = message { () throws(FormatError) in try FileBytes(readingFileAt: "/dev\0/file") }
    #expect(zero == "cannot open a path with a zero byte in it")
  }

  @Test func doesNotWaitForAPipe() throws {
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "pipe").path
      try #require(mkfifo(path, 0o600) == 0)
      #expect(throws: FormatError.self) { try FileBytes(readingFileAt: path) }
    }
  }

  @Test func limitsTheSize() throws {
    try withFile([1, 2, 3, 4]) { path in
      let whole = try FileBytes(readingFileAt: path, maximumSize: 4)
      #expect(whole.count == 4)
      #expect(throws: FormatError.self) { try FileBytes(readingFileAt: path, maximumSize: 3) }
      #expect(throws: FormatError.self) { try FileBytes(mappingFileAt: path, maximumSize: 3) }
    }
  }
}
