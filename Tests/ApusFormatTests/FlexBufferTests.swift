// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import TestSupport
import Testing

@Suite struct FlexBufferTests {
  @Test func readsAMapOfEveryKind() throws {
    let map = try FlexBufferMap(bytes: Fixtures.flexBuffer)
    #expect(map.entries.map(\.key) == map.entries.map(\.key).sorted())
    #expect(map["max_detections"] == .int(10))
    #expect(map["y_scale"] == .float(10))
    #expect(map["use_regular_nms"] == .bool(true))
    #expect(map["ii"] == .int(-70000))
    #expect(map["iu"] == .uint(1 << 40))
    #expect(map["if"] == .float(0.1))
    #expect(map["s"] == .string("hello"))
    #expect(map["blob"] == .blob([1, 2, 3]))
    #expect(map["n"] == .null)
    #expect(map["v"] == .vector([.int(1), .string("x"), .float(2.5)]))
    #expect(map["tv"] == .vector([.int(1), .int(2), .int(300)]))
    #expect(map["f3"] == .vector([.float(1.5), .float(2.5), .float(3.5)]))
    guard case .map(let inner) = map["m"] else {
      Issue.record("m is no map")
      return
    }
    #expect(inner.int64("a") == -1)
    #expect(inner["b"] == .uint(1 << 63))
  }

  @Test(
    "scalars of every width",
    arguments: [
      ([5, 4, 1], .int(5)), ([0xFE, 4, 1], .int(-2)), ([0xD4, 0xFE, 5, 2], .int(-300)),
      ([0x70, 0x11, 1, 0, 6, 4], .int(70000)), ([0, 0, 0, 0, 0, 1, 0, 0, 7, 8], .int(1 << 40)),
      ([200, 8, 1], .uint(200)), ([0, 0x3C, 13, 2], .float(1)), ([0, 0xFC, 13, 2], .float(-.infinity)),
      ([1, 0, 13, 2], .float(0x1p-24)), ([0, 0, 0xC0, 0x3F, 14, 4], .float(1.5)),
      ([0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F, 15, 8], .float(0.1)), ([1, 104, 1], .bool(true)),
      ([4, 0x74, 0x65, 0x78, 0x74, 0, 5, 20, 1], .string("text")), ([0, 0, 1], .null),
      ([0x6B, 0, 2, 16, 1], .key("k")), ([7, 0, 2, 25, 1], .int(7)),
      ([3, 1, 2, 3, 3, 44, 1], .vector([.int(1), .int(2), .int(3)])),
      ([1, 2, 2, 64, 1], .vector([.int(1), .int(2)])), ([1, 2, 2, 68, 1], .vector([.uint(1), .uint(2)])),
      ([9, 8, 7, 3, 80, 1], .vector([.uint(9), .uint(8), .uint(7)])),
      ([9, 8, 7, 6, 4, 88, 1], .vector([.int(9), .int(8), .int(7), .int(6)])),
      ([2, 1, 0, 2, 144, 1], .vector([.bool(true), .bool(false)])),
      // Typed vectors of keys and (in the deprecated form) of texts.
      ([0x61, 0, 0x62, 0, 2, 5, 4, 2, 56, 1], .vector([.key("a"), .key("b")])),
      ([1, 0x61, 0, 1, 3, 1, 60, 1], .vector([.string("a")])),
      ([2, 9, 8, 2, 100, 1], .blob([9, 8])),
    ] as [([UInt8], FlexBufferValue)])
  func readsScalars(bytes: [UInt8], expected: FlexBufferValue) throws {
    #expect(try FlexBufferValue(bytes: bytes) == expected)
  }

  @Test func convertsAsTheReferenceDoes() {
    let map = FlexBufferMap(entries: [
      .init(key: "i", value: .int(-7)), .init(key: "u", value: .uint(.max)),
      .init(key: "f", value: .float(2.9)),
      .init(key: "nan", value: .float(.nan)), .init(key: "huge", value: .float(1e300)),
      .init(key: "b", value: .bool(true)), .init(key: "s", value: .string("12")),
      .init(key: "n", value: .null),
      .init(key: "v", value: .vector([.null, .null])),
    ])
    #expect(map.int64("i") == -7 && map.double("i") == -7 && map.bool("i"))
    #expect(map.int64("u") == -1)
    #expect(map.int64("f") == 2 && map.double("f") == 2.9)
    #expect(map.int64("nan") == 0 && map.int64("huge") == .max)
    #expect(map.int64("b") == 1 && map.double("b") == 1 && map.bool("b"))
    #expect(map.int64("s") == 12 && map.double("s") == 12)
    #expect(map.int64("n") == 0 && map.contains("n") && !map.bool("n"))
    #expect(map.int64("v") == 2)
    #expect(map.int64("absent") == 0 && map.double("absent", default: 3) == 3 && !map.contains("absent"))
  }

  @Test func noBytesAreAnEmptyMap() throws {
    #expect(try FlexBufferMap(bytes: []).entries.isEmpty)
    #expect(throws: FormatError.self) { try FlexBufferValue(bytes: []) }
  }

  @Test(
    "damage is an error",
    arguments: [
      [1], [1, 4], [1, 4, 3], [1, 4, 0], [5, 200, 1], [9, 20, 1], [255, 0, 1, 36, 1], [1, 12, 1],
      [0x61, 1, 16, 1],
    ] as [[UInt8]])
  func refusesDamage(bytes: [UInt8]) {
    #expect(throws: FormatError.self) { try FlexBufferValue(bytes: bytes) }
  }

  @Test func refusesARootThatIsNoMap() {
    #expect(throws: FormatError.self) { try FlexBufferMap(bytes: [5, 4, 1]) }
  }

  @Test func limitsNesting() throws {
    // Vectors of one element each, every one around the one before.
    func nested(_ depth: Int) -> [UInt8] {
      var bytes: [UInt8] = [1, 7, 4]
      for _ in 0..<depth { bytes += [1, 3, 40] }
      return bytes + [2, 40, 1]
    }
    #expect(throws: Never.self) { try FlexBufferValue(bytes: nested(30)) }
    #expect(throws: FormatError.self) { try FlexBufferValue(bytes: nested(40)) }
  }

  @Test func limitsSharing() {
    // Each vector has sixteen references to the one before: 16³¹ values in a kilobyte.
    var bytes: [UInt8] = [16] + Array(repeating: 7, count: 16) + Array(repeating: 4, count: 16)
    for _ in 0..<31 {
      bytes.append(16)
      for index in 0..<16 { bytes.append(UInt8(33 + index)) }
      bytes += Array(repeating: 40, count: 16)
    }
    bytes += [32, 40, 1]
    #expect(throws: FormatError.self) { try FlexBufferValue(bytes: bytes) }
  }

  @Test func survivesMutation() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<20_000 {
      var bytes = Fixtures.flexBuffer
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { bytes.removeFirst(Int.random(in: 0..<bytes.count, using: &random)) }
      do throws(FormatError) {
        _ = try FlexBufferValue(bytes: bytes)
      } catch {
        #expect(error.message.hasPrefix("FlexBuffer: "))
      }
    }
  }
}
