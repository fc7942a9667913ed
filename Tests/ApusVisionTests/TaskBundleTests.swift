// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

/// Bundles of models, and what pretends to be one.
@Suite struct TaskBundleTests {
  /// A zip archive of stored entries.
  private func archive(_ entries: [(name: String, bytes: [UInt8])], claimed: UInt32? = nil) -> [UInt8] {
    var (file, directory): ([UInt8], [UInt8]) = ([], [])
    for entry in entries {
      var common: [UInt8] = []
      for value in [20, 0, 0, 0, 0] as [UInt16] { common.appendLittleEndian(value) }
      let size = claimed ?? UInt32(entry.bytes.count)
      for value in [entry.bytes.crc32, size, size] { common.appendLittleEndian(value) }
      common.appendLittleEndian(UInt16(entry.name.utf8.count))
      common.appendLittleEndian(UInt16(0))
      directory += Array("PK\u{1}\u{2}".utf8) + [20, 0] + common + [UInt8](repeating: 0, count: 10)
      directory.appendLittleEndian(UInt32(file.count))
      directory += Array(entry.name.utf8)
      file += Array("PK\u{3}\u{4}".utf8) + common + Array(entry.name.utf8) + entry.bytes
    }
    var end = Array("PK\u{5}\u{6}".utf8) + [0, 0, 0, 0]
    for _ in 0..<2 { end.appendLittleEndian(UInt16(entries.count)) }
    end.appendLittleEndian(UInt32(directory.count))
    end.appendLittleEndian(UInt32(file.count))
    return file + directory + end + [0, 0]
  }

  private let model = DetectorModel.answering([.count(1)]).bytes

  @Test("models come out of a bundle, and out of a bundle in it")
  func opensModels() throws {
    let inner = archive([("a.tflite", model)])
    let bundle = try TaskBundle(bytes: archive([("b.tflite", model), ("inner.task", inner)]))
    #expect(bundle.entryNames == ["b.tflite", "inner.task"])
    _ = try bundle.model(named: "b.tflite")
    _ = try bundle.bundle(named: "inner.task").model(named: "a.tflite")
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "x.task").path
      try Data(inner).write(to: URL(filePath: path))
      #expect(try TaskBundle(contentsOfFile: path).entryNames == ["a.tflite"])
    }
  }

  @Test("an error names what is missing, and what there is")
  func namesMissingEntries() throws {
    let bundle = try TaskBundle(bytes: archive([("b.tflite", model)]))
    let error = #expect(throws: ApusError.self) { try bundle.model(named: "hand_detector.tflite") }
    #expect(error?.code == .malformedModel)
    #expect(error?.message == "the bundle has no entry 'hand_detector.tflite', only: 'b.tflite'")
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "x.task").path
      try Data(archive([("b.tflite", model)])).write(to: URL(filePath: path))
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

  @Test("bundles that lie are refused")
  func refusesLies() throws {
    for bytes in [[], model, [UInt8](repeating: 0, count: 100), Array("PK\u{5}\u{6}".utf8)] {
      let error = #expect(throws: ApusError.self) { try TaskBundle(bytes: bytes) }
      #expect(error?.code == .malformedModel)
    }
    // An entry that says it is larger than the file, and one whose bytes were changed.
    #expect(throws: ApusError.self) {
      try TaskBundle(bytes: archive([("a", model)], claimed: 1 << 30)).model(named: "a")
    }
    var changed = archive([("a", model)])
    changed[60] ^= 1
    #expect(throws: ApusError.self) { try TaskBundle(bytes: changed).model(named: "a") }
    // No models at all, under a model's name.
    for bytes in [[], Array("not a model".utf8), archive([("a", [])])] {
      let error = #expect(throws: ApusError.self) {
        try TaskBundle(bytes: archive([("a.tflite", bytes)])).model(named: "a.tflite")
      }
      #expect(error?.code == .malformedModel && error?.message.contains("'a.tflite'") == true)
      #expect(throws: ApusError.self) {
        try TaskBundle(bytes: archive([("a.task", Array(bytes.prefix(30)))])).bundle(named: "a.task")
      }
    }
  }

  @Test("a bundle cut off anywhere is an error or a bundle with fewer promises, never a trap")
  func survivesTruncation() throws {
    let bytes = archive([("a", [1, 2, 3]), ("b", [4])])
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
