// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import TestSupport
import Testing

/// Damaged models answer with a value or an error, within their limits; and the same twice.
@Suite struct ModelMutationTests {
  /// One way to damage a file.
  enum Mutation: CaseIterable {
    case flip, byte, word, truncation, index, swap

    private static let words: [Int32] = [
      -1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 255, 256, 65_535, 65_536, .max, .min, 0x7FC0_0000, 0x7F80_0000,
    ]

    func apply(to bytes: inout [UInt8], _ random: inout SeededGenerator) {
      guard bytes.count > 8 else { return }
      // Most bytes of a large model are weights, in its middle: structure is nearer to the ends.
      func place(_ size: Int) -> Int {
        let last = bytes.count - size
        switch bytes.count < 131_072 ? 0 : Int.random(in: 0..<3, using: &random) {
        case 1: return Int.random(in: 0...32_768, using: &random)
        case 2: return Int.random(in: (last - 65_536)...last, using: &random)
        default: return Int.random(in: 0...last, using: &random)
        }
      }
      switch self {
      case .flip: bytes[place(1)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case .byte: bytes[place(1)] = .random(in: 0...255, using: &random)
      case .word: Self.store(Self.words.randomElement(using: &random) ?? 0, in: &bytes, at: place(4) & ~3)
      case .truncation: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      case .index:
        // A likely index, count or dimension, moved a little or far.
        for _ in 0..<64 {
          let position = place(4) & ~3
          let value = Self.load(bytes, at: position)
          guard (-1..<4096).contains(value) else { continue }
          let changes = [value - 1, value + 1, -1, 0, value &* 1000, value << 20]
          Self.store(changes.randomElement(using: &random) ?? 0, in: &bytes, at: position)
          return
        }
      case .swap:
        let (first, second) = (place(4) & ~3, place(4) & ~3)
        let value = Self.load(bytes, at: first)
        Self.store(Self.load(bytes, at: second), in: &bytes, at: first)
        Self.store(value, in: &bytes, at: second)
      }
    }

    private static func load(_ bytes: [UInt8], at position: Int) -> Int32 {
      (0..<4).reduce(0) { $0 | Int32(bytes[position + $1]) << Int32(8 * $1) }
    }

    private static func store(_ value: Int32, in bytes: inout [UInt8], at position: Int) {
      for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: value >> Int32(8 * index)) }
    }
  }

  /// How many copies of each file are damaged; `APUS_MUTANTS` sets it for longer hunts.
  private static let count = ProcessInfo.processInfo.environment["APUS_MUTANTS"].flatMap(Int.init) ?? 300

  private static var limits: Interpreter.Options {
    var options = Interpreter.Options()
    options.memoryLimit = 64 << 20
    return options
  }

  /// Runs a model; one with loops only for two seconds, as a damaged bound may mean billions of rounds.
  private static func invoke(_ interpreter: Interpreter) throws(ApusError) {
    guard interpreter.model.operatorCounts.contains(where: { $0.name == "WHILE" }) else {
      return try interpreter.invoke()
    }
    try Watchdog.limit(seconds: 2) { flag throws(ApusError) in try interpreter.invoke(cancellation: flag) }
  }

  /// Loads, prepares and runs; false where that is an error.
  private static func runs(
    _ bytes: [UInt8], maximumWork: Int, _ random: inout SeededGenerator
  ) throws -> Bool {
    let interpreter: Interpreter
    do {
      let model = try Model(bytes: bytes)
      _ = (model.inputs, model.outputs, model.signatures, model.labels, model.metadataDamage)
      guard model.unsupportedOperators.isEmpty else { return false }
      interpreter = try Interpreter(model: model, options: limits)
      // A window as large as its input costs the product of all sizes: that is slow by order, not a hang.
      let sizes = interpreter.tensors.map(\.shape.elementCount)
      guard let largest = sizes.max(), largest <= maximumWork / max(largest, 1) else { return false }
      for position in interpreter.inputs.indices {
        // Shapes and axes that come as data are small numbers, or nothing would ever run.
        let isSmall = interpreter.inputs[position].type == .int32
        try interpreter.withInputBytes(at: position) { span in
          for index in 0..<span.byteCount {
            let byte: UInt8 =
              isSmall
              ? index % 4 == 0 ? .random(in: 0...4, using: &random) : 0 : .random(in: 0...255, using: &random)
            span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
          }
        }
      }
      try invoke(interpreter)
    } catch {
      #expect(!error.message.isEmpty && error.code.rawValue != "valueNotKnown")
      return false
    }
    let stateful: Set = [
      "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE", "RANDOM_UNIFORM",
      "RANDOM_STANDARD_NORMAL",
      "MULTINOMIAL",
    ]
    let hasState =
      interpreter.tensors.contains { $0.isVariable }
      || interpreter.model.operatorCounts.contains { stateful.contains($0.name) }
    let outputs = try interpreter.outputs.indices.map(interpreter.bytes(ofOutputAt:))
    try invoke(interpreter)
    let again = try interpreter.outputs.indices.map(interpreter.bytes(ofOutputAt:))
    #expect(hasState || outputs == again, "two runs differ")
    return true
  }

  private static func check(
    _ originals: [[UInt8]], count: Int, seed: UInt64, maximumWork: Int = 1 << 28
  ) throws -> Int {
    var ran = 0
    for number in 0..<count {
      var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
      var bytes = originals[number % originals.count]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        Mutation.allCases.randomElement(using: &random)?.apply(to: &bytes, &random)
      }
      if try runs(bytes, maximumWork: maximumWork, &random) { ran += 1 }
    }
    return ran
  }

  @Test("damaged models of one operator", .timeLimit(.minutes(5)), arguments: GoldenArchive.ofThisBuild)
  func operators(archive: GoldenArchive) throws {
    let contents = try archive.open()
    let originals = try contents.cases.map { try contents.archive.contents(of: "\($0)/model.tflite") }
    let seed = archive.name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }
    let ran = try Self.check(originals, count: 2 * Self.count, seed: seed)
    #expect(ran < 2 * Self.count)
  }

  @Test("damaged models of several operators", .timeLimit(.minutes(5)))
  func chains() throws {
    for (index, model) in [TestModel.chain(), .dynamic].enumerated() {
      let ran = try Self.check([model.bytes], count: 10 * Self.count, seed: UInt64(index))
      #expect(ran > 0)
      #expect(ran < 9 * Self.count)
    }
  }

  @Test(
    "damaged published models", .enabled(if: PublishedModels.folder != nil, "APUS_TEST_DATA names no folder"),
    .timeLimit(.minutes(5)),
    arguments: ["mobilenet_v1_0.25_128_quant", "mlperftiny_kws_ref_model", "thermal_face_automl_edge_fast"])
  func published(name: String) throws {
    let folder = try #require(PublishedModels.folder)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).tflite")))
    let ran = try Self.check([bytes], count: Self.count / 2, seed: 7, maximumWork: .max)
    #expect(ran > 0)
  }
}
