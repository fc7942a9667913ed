// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import Testing

/// Limits on what clients send, before it is kept.
@Suite struct LimitTests {
  private func packed(_ bytes: [UInt8], _ encoding: Compression = .gzip) throws -> [UInt8] {
    Array(try #require(encoding.compressed(ByteBuffer(bytes: bytes))).readableBytesView)
  }

  private func expanded(_ bytes: [UInt8], _ encoding: Compression = .gzip, limit: Int = 1 << 20)
    throws(ServingError) -> [UInt8]
  {
    try encoding.decompressed(ByteChunks(ByteBuffer(bytes: bytes)), limit: limit).array
  }

  @Test("what was compressed comes back, whatever its size", arguments: [0, 1, 100, 65_536, 65_537, 300_000])
  func roundTrips(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }
    for encoding in Compression.allCases {
      #expect(try expanded(packed(bytes, encoding), encoding) == bytes)
    }
  }

  @Test("the limit holds for what comes out")
  func limit() throws {
    let bomb = try packed([UInt8](repeating: 0, count: 1 << 20))
    #expect(bomb.count < 5_000)
    #expect(try expanded(bomb).count == 1 << 20)
    let error = #expect(throws: ServingError.self) { try expanded(bomb, limit: 1 << 20 - 1) }
    #expect(error?.kind == .tooLarge)
  }

  @Test("members follow each other; what is cut off or follows is refused")
  func members() throws {
    let (one, two) = (try packed([1, 2]), try packed([3]))
    #expect(try expanded(one + two) == [1, 2, 3])
    for cut in 1..<one.count {
      #expect(throws: ServingError.self, "\(cut)") { try expanded(Array(one.dropLast(cut))) }
      #expect(throws: ServingError.self, "\(cut)") {
        try expanded(one + two.dropLast(min(cut, two.count - 1)))
      }
    }
    #expect(throws: ServingError.self) { try expanded(one + [0]) }
    #expect(throws: ServingError.self) { try expanded([]) }
  }

  @Test("a form has its fields and files, up to a number of parts")
  func forms() throws {
    func form(_ parts: Int) throws(ServingError) -> FormData {
      let text =
        (0..<parts).map { "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\nv\r\n" }.joined()
        + "--b--\r\n"
      return try FormData(
        ByteChunks(ByteBuffer(string: text)), contentType: "multipart/form-data; boundary=b")
    }
    #expect(try form(256).fields.count == 256)
    #expect(throws: ServingError.self) { try form(257) }
  }

  @Test(
    "what is percent-encoded stands for itself",
    arguments: [
      ("a%20b+c", "a b+c"), ("%EF%BB%BFv2", "\u{FEFF}v2"), ("%e2%82%AC", "€"), ("", ""), ("%", nil),
      ("%4", nil),
      ("%zz", nil), ("%ff", nil), ("%00", "\0"),
    ] as [(String, String?)])
  func percentEncoding(text: String, expected: String?) {
    let found = PercentEncoding.decoded(text)
    #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    if text == "a%20b+c" { #expect(PercentEncoding.decodedField(text) == "a b c") }
  }
}
