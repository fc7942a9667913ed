// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Commands on bundles of models and on galleries of gestures: the text that they print, and statuses.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct BundleCommandTests {
  private struct Case: Decodable {
    let name: String
    let model: Data
  }

  private static let models: [Case] = goldens("inputs")

  private func write(_ entries: [(name: String, bytes: [UInt8])], to file: String, in folder: URL) throws {
    try Data(storedArchive(entries)).write(to: folder.appending(path: file))
  }

  @Test("inspect shows the models of a bundle, and of a bundle in it, and what is damaged")
  func inspects() throws {
    let model = [UInt8](try #require(Self.models.first).model)
    let names = ["hand_detector.tflite", "hand_landmarks_detector.tflite"]
    try withTemporaryFolder { folder in
      let inner = storedArchive(names.map { ($0, model) })
      try Data(inner).write(to: folder.appending(path: "hand.task"))
      let text = try apus("inspect hand.task", in: folder)
      #expect(text.status == 0 && text.output.contains("a bundle of 2 entries, for apus hands"))
      #expect(text.output.contains("a model that runs") && text.output.contains("inputs:"))
      try write(
        [
          ("hand_landmarker.task", inner), ("bad.tflite", Array("no model".utf8)),
          ("notes.txt", Array("x".utf8)),
        ], to: "gesture.task", in: folder)
      let json = try apus("inspect gesture.task --json", in: folder)
      #expect(json.status == 0, "\(json.errors)")
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      #expect(document["command"] as? String == "hands")
      let entries = try #require(document["entries"] as? [[String: Any]])
      #expect(entries.map { $0["name"] as? String } == ["hand_landmarker.task", "bad.tflite", "notes.txt"])
      let bundle = try #require(entries[0]["bundle"] as? [String: Any])
      let models = try #require(bundle["entries"] as? [[String: Any]])
      #expect(models.map { $0["name"] as? String } == names)
      #expect((models[0]["model"] as? [String: Any])?["runs"] as? Bool == true)
      #expect((entries[1]["error"] as? String)?.contains("'bad.tflite'") == true)
    }
  }

  @Test("a command for one model says what takes the bundle, and one for bundles which task it is for")
  func advises() throws {
    let model = [UInt8](try #require(Self.models.first).model)
    try withTemporaryFolder { folder in
      #expect(try apus("detect --annotate picture.png", in: folder).status == 0)
      try write(
        [("face_detector.tflite", model), ("face_landmarks_detector.tflite", model)], to: "face.task",
        in: folder)
      for command in [
        "detect picture.png --model face.task", "classify picture.png --model face.task",
        "run face.task", "inspect face.task --as faces", "faces picture.png --model face.task",
      ] {
        let found = try apus(command, in: folder)
        #expect(found.status != 0 && found.errors.contains("apus face-mesh"), "\(command): \(found.errors)")
      }
      let found = try apus("hands picture.png --model face.task", in: folder)
      #expect(found.status != 0 && found.errors.contains("'hand_detector.tflite'"))
      #expect(found.errors.contains("it is for apus face-mesh"))
    }
  }

  @Test(
    "options of gestures that say nothing, and galleries of other things, are refused",
    arguments: [
      ("hands a.png --model h.task --distance 1", "--gallery is missing"),
      ("hands a.png --model h.task --gallery g --distance -1", "--distance"),
      ("gallery add x a.png --gallery g", "--hands"),
      ("gallery add x a.png --gallery g --hands h.task --model m", "--hands excludes --model"),
      ("gallery find a.png --gallery g --hands h.task --faces f", "--hands excludes --faces"),
      ("gallery add x a.png --gallery g --hands h.task --fit stretch", "--fit"),
    ])
  func refuses(command: String, part: String) throws {
    try withTemporaryFolder { folder in
      let found = try apus(command, in: folder)
      #expect(found.status != 0 && found.errors.contains(part), "\(found.errors)")
    }
  }
}
