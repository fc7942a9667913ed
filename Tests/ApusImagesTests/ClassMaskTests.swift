// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import Foundation
import TestSupport
import Testing

/// Masks beside the indices that Pillow reads; made by `Tools/evaluation/goldens.py`.
@Suite struct ClassMaskTests {
  struct Golden: Decodable, Sendable, CustomTestStringConvertible {
    let kind: String
    let name: String
    var file: Data?
    var size: [Int]?
    var truth: [UInt16]?

    var testDescription: String { name }

    static let all: [Golden] = {
      let cases: [Golden] = goldens("evaluation")
      return cases.filter { $0.kind == "png" }
    }()
  }

  @Test("there are masks of palettes and of gray values")
  func hasCases() { #expect(Golden.all.count == 6) }

  @Test("indices are Pillow's, not colors", arguments: Golden.all)
  func readsIndices(golden: Golden) throws {
    let mask = try ClassMask(decoding: Array(try #require(golden.file)))
    #expect([mask.width, mask.height] == golden.size)
    #expect(mask.indices == golden.truth)
  }

  @Test("a file that ends anywhere, or has another byte, is an error or a mask", arguments: Golden.all)
  func survivesDamage(golden: Golden) throws {
    let bytes = Array(try #require(golden.file))
    let end = bytes.count - 12
    for count in 0..<end {
      #expect(throws: ApusError.self) { try ClassMask(decoding: Array(bytes[..<count])) }
    }
    for place in bytes.indices {
      for change: UInt8 in [1, 0x80, 0xFF] {
        var changed = bytes
        changed[place] ^= change
        _ = try? ClassMask(decoding: changed)
      }
    }
  }

  @Test("colors, other formats and sizes that do not fit are refused")
  func refusesOthers() throws {
    let colors = try ImageBuffer(bytes: [1, 2, 3, 4, 5, 6], width: 2, height: 1, format: .rgb)
    #expect(message { try ClassMask(decoding: colors.encoded(as: .png)) }.contains("colors, not classes"))
    #expect(message { try ClassMask(decoding: colors.encoded(as: .jpeg)) }.contains("not a PNG"))
    #expect(message { try ClassMask(decoding: []) }.contains("not a PNG"))
    #expect(message { try ClassMask(width: 2, height: 2, indices: [1]) }.contains("1 classes"))
    #expect(message { try ClassMask(width: -1, height: -1, indices: [1]) }.contains("-1 × -1"))
    // A few bytes that say that they are very many.
    var large = Array(try #require(Golden.all.first { $0.name == "gray, 8 bits" }?.file))
    for place in [16, 20] { large.replaceSubrange(place..<place + 4, with: [0, 0, 0x2B, 0]) }
    #expect(message { try ClassMask(decoding: large) }.contains("too few for a PNG of 11008 × 11008"))
  }

  private func message(_ body: () throws -> ClassMask) -> String {
    do {
      _ = try body()
      return ""
    } catch {
      return (error as? ApusError)?.message ?? "\(error)"
    }
  }
}
