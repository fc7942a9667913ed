// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

/// Bundles of models, and what pretends to be one.
@Suite struct TaskBundleTests {
  private let model = DetectorModel.answering([.count(1)]).bytes

  @Test("models come out of a bundle, and out of a bundle in it")
  func opensModels() throws {
    let inner = storedArchive([("a.tflite", model)])
    let bundle = try TaskBundle(bytes: storedArchive([("b.tflite", model), ("inner.task", inner)]))
    #expect(bundle.entryNames == ["b.tflite", "inner.task"])
    _ = try bundle.model(named: "b.tflite")
    _ = try bundle.bundle(named: "inner.task").model(named: "a.tflite")
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "x.task").path
      try Data(inner).write(to: URL(filePath: path))
      #expect(try TaskBundle(contentsOfFile: path).entryNames == ["a.tflite"])
    }
  }

  @Test("two entries of one name are refused: programs differ in which of them they read")
  func refusesRepeatedNames() throws {
    let twice = storedArchive([("a.tflite", model), ("b.tflite", model), ("a.tflite", [1])])
    let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: twice) }
    #expect(error?.code == .malformedModel)
    #expect(
      error?.message == "the bundle has two entries 'a.tflite': programs differ in which of them they read")
    let outer = try TaskBundle(bytes: storedArchive([("inner.task", twice)]))
    let inner = #expect(throws: ApusError.self) { try outer.bundle(named: "inner.task") }
    #expect(inner?.message.contains("'inner.task' has two entries 'a.tflite'") == true)
  }

  @Test("bytes may follow a bundle, as other readers allow")
  func readsBeforeOtherBytes() throws {
    let bytes = storedArchive([("a.tflite", model)])
    for rest in [
      [0], [UInt8](repeating: 0, count: 100), Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 9, count: 60),
    ] {
      _ = try TaskBundle(bytes: bytes + rest).model(named: "a.tflite")
    }
    #expect(throws: ApusError.self) { try TaskBundle(bytes: bytes + [UInt8](repeating: 0, count: 1 << 17)) }
  }

  @Test("an error names what is missing, and what there is")
  func namesMissingEntries() throws {
    let bundle = try TaskBundle(bytes: storedArchive([("b.tflite", model)]))
    let error = #expect(throws: ApusError.self) { try bundle.model(named: "hand_detector.tflite") }
    #expect(error?.code == .malformedModel)
    #expect(error?.message == "the bundle has no entry 'hand_detector.tflite', only: 'b.tflite'")
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "x.task").path
      try Data(storedArchive([("b.tflite", model)])).write(to: URL(filePath: path))
      let error = #expect(throws: ApusError.self) { try HandLandmarker(modelFile: path) }
      #expect(error?.message.contains("'hand_detector.tflite'") == true)
      #expect(error?.message.contains(path) == true)
      let missing = #expect(throws: ApusError.self) { try HandLandmarker(modelFile: path + "x") }
      #expect(missing?.code == .unreadableFile)
    }
  }

  @Test("a single model is not taken for a bundle, even if its labels are a zip archive behind it")
  func refusesModels() throws {
    var labelled = DetectorModel.answering([.count(1)])
    labelled.labels = "a"
    for bytes in [model, labelled.bytes] {
      let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: bytes) }
      #expect(error?.code == .malformedModel && error?.message.contains("a single .tflite model") == true)
    }
  }

  @Test(
    "a bundle whose end is missing is not taken for an archive behind one of its models", arguments: [0, 8])
  func refusesArchivesInside(padding: Int) throws {
    var labelled = DetectorModel.answering([.count(1)])
    labelled.labels = "a"
    let zeros = [UInt8](repeating: 0, count: padding)
    let bundle = storedArchive([("hand_detector.tflite", labelled.bytes)])
    _ = try TaskBundle(bytes: zeros + bundle).model(named: "hand_detector.tflite")
    for missing in 1...60 {
      let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: zeros + bundle.dropLast(missing)) }
      #expect(error?.message.contains("damaged or cut off") == true, "\(missing): \(error?.message ?? "")")
    }
  }

  private static let others: [[UInt8]] = [
    [], [0x50, 0x4B, 3, 4] + Array(repeating: 7, count: 60),
    [0x50, 0x4B, 5, 6] + Array(repeating: 7, count: 60),
    Array("version https://git-lfs.github.com/spec/v1\noid sha256:0\n".utf8),
  ]

  @Test(
    "what is no bundle is named",
    arguments: zip(
      others,
      [
        "it is an empty file, not a bundle of models", "damaged or cut off", "damaged or cut off",
        "it is a Git LFS pointer",
      ]))
  func namesOtherFiles(bytes: [UInt8], words: String) {
    let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: bytes) }
    #expect(
      error?.code == .malformedModel && error?.message.contains(words) == true, "\(String(describing: error))"
    )
  }

  @Test("bundles that lie are refused")
  func refusesLies() throws {
    for bytes in [[], model, [UInt8](repeating: 0, count: 100), Array("PK\u{5}\u{6}".utf8)] {
      let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: bytes) }
      #expect(error?.code == .malformedModel)
    }
    // An entry that says it is larger than the file, and one whose bytes were changed.
    #expect(throws: ApusError.self) {
      try TaskBundle(bytes: storedArchive([("a", model)], claimed: 1 << 30)).model(named: "a")
    }
    var changed = storedArchive([("a", model)])
    changed[60] ^= 1
    #expect(throws: ApusError.self) { try TaskBundle(bytes: changed).model(named: "a") }
    // No models at all, under a model's name.
    for bytes in [[], Array("not a model".utf8), storedArchive([("a", [])])] {
      let error = #expect(throws: ApusError.self) {
        try TaskBundle(bytes: storedArchive([("a.tflite", bytes)])).model(named: "a.tflite")
      }
      #expect(error?.code == .malformedModel && error?.message.contains("'a.tflite'") == true)
      #expect(throws: ApusError.self) {
        try TaskBundle(bytes: storedArchive([("a.task", Array(bytes.prefix(30)))])).bundle(named: "a.task")
      }
    }
  }

  @Test("what a compressed entry may become is limited before it is unpacked")
  func refusesBombs() throws {
    let bytes = storedArchive([("a.tflite", model)])
    let directory = try #require(
      bytes.indices.first { bytes[$0...].starts(with: Array("PK\u{1}\u{2}".utf8)) })
    for size in [1 << 27, 1 << 31] as [UInt32] {
      var bomb = bytes
      for (method, place) in [(8, 22), (directory + 10, directory + 24)] {
        bomb[method] = 8
        for byte in 0..<4 { bomb[place + byte] = UInt8(truncatingIfNeeded: size >> (8 * UInt32(byte))) }
      }
      let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: bomb).model(named: "a.tflite") }
      #expect(error?.code == .resourceLimit && error?.message.contains("'a.tflite'") == true)
    }
  }

  @Test("a bundle cut off anywhere is an error or a bundle with fewer promises, never a trap")
  func survivesTruncation() throws {
    let bytes = storedArchive([("a", [1, 2, 3]), ("b", [4])])
    for length in 0..<bytes.count {
      #expect(throws: ApusError.self) { try TaskBundle(bytes: Array(bytes.prefix(length))) }
    }
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 0x55
      guard let bundle = try? TaskBundle(bytes: changed) else { continue }
      for name in bundle.entryNames { #expect(throws: ApusError.self) { try bundle.model(named: name) } }
    }
  }
}
