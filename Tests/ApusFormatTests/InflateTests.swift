// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import TestSupport
import Testing

@Suite struct InflateTests {
  static let blocks = [Fixtures.dynamicBlock, Fixtures.fixedBlock, Fixtures.storedBlock]

  @Test("a stream of each kind of block", arguments: blocks)
  func inflates(stream: [UInt8]) throws {
    let expected = Array(Fixtures.text.utf8)
    #expect(try Inflate.inflate(stream, expectedSize: expected.count) == expected)
    #expect(throws: FormatError.self) { try Inflate.inflate(stream, expectedSize: expected.count - 1) }
    #expect(throws: FormatError.self) { try Inflate.inflate(stream, expectedSize: expected.count + 1) }
    #expect(throws: FormatError.self) { try Inflate.inflate(stream, expectedSize: 0) }
    #expect(throws: FormatError.self) { try Inflate.inflate(stream, expectedSize: -1) }
  }

  @Test("a limit is one, not a size", arguments: blocks)
  func limits(stream: [UInt8]) throws {
    let expected = Array(Fixtures.text.utf8)
    for limit in [expected.count, expected.count + 1, 1 << 20] {
      #expect(try Inflate.inflate(stream[...], limit: limit) == expected)
    }
    #expect(throws: FormatError.self) { try Inflate.inflate(stream[...], limit: expected.count - 1) }
    #expect(throws: FormatError.self) { try Inflate.inflate(stream.dropLast(9), limit: 1 << 20) }
  }

  @Test("a stream that is cut off is an error", arguments: blocks)
  func refusesTruncation(stream: [UInt8]) {
    for length in stream.indices {
      #expect(throws: FormatError.self) {
        try Inflate.inflate(stream[..<length], expectedSize: Fixtures.text.utf8.count)
      }
    }
  }

  @Test func copiesOverlapWhatTheyWrite() throws {
    // Python: zlib.compress(b'a' * 600, 9) without header and trailer.
    let stream: [UInt8] = [0x4B, 0x4C, 0x1C, 0x05, 0xA3, 0x80, 0xFA, 0x00, 0x00]
    #expect(try Inflate.inflate(stream, expectedSize: 600) == Array(repeating: 0x61, count: 600))
  }

  @Test func refusesTheReservedBlockAndACopyFromBeforeTheStart() {
    #expect(throws: FormatError.self) { try Inflate.inflate([7], expectedSize: 0) }
    // Fixed code: the length symbol 257 first.
    #expect(throws: FormatError.self) { try Inflate.inflate([0x03, 0x02, 0, 0], expectedSize: 3) }
  }

  @Test("random damage gives bytes or an error", arguments: blocks)
  func survivesMutation(stream: [UInt8]) {
    var random = SeededGenerator(seed: UInt64(stream.count))
    let size = Fixtures.text.utf8.count
    for _ in 0..<5_000 {
      var bytes = stream
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<min(bytes.count, 120), using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      if let result = try? Inflate.inflate(bytes, expectedSize: size) { #expect(result.count == size) }
    }
  }
}
