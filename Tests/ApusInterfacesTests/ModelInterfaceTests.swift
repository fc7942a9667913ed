// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusInterfaces
import Foundation
import TestSupport
import Testing

/// The folder that the environment variable `APUS_TEST_DATA` names.
private let data = ProcessInfo.processInfo.environment["APUS_TEST_DATA"]

struct ModelInterfaceTests {
  @Test(
    "a file's name becomes a type's",
    arguments: [
      ("birds", "Birds"), ("coco_ssd-v1.0 quant", "CocoSsdV10Quant"), ("2_birds", "Model2Birds"),
      ("", "ModelNetwork"),
      ("鳥", "鳥"), ("../x\"y", "XY"), ("🐦", "ModelNetwork"), ("model", "ModelNetwork"),
      ("string", "StringNetwork"), ("self", "SelfNetwork"), ("1", "Model1"),
    ])
  func types(text: String, name: String) { #expect(SwiftName.type(text) == name) }

  @Test("names of members differ, and are no words of the language")
  func members() {
    #expect(
      SwiftName.members(["traffic light", "class", "TrafficLight", "traffic-light", "", "7up", "CPU", "self"])
        == [
          "trafficLight", "`class`", "trafficLight_2", "trafficLight_3", "value", "value7up", "cpu", "`self`",
        ])
    #expect(SwiftName.members(["name", "x"], apartFrom: ["name"]) == ["name_0", "x"])
  }

  @Test(
    "texts of strangers stay texts",
    arguments: [
      ("a\"b", "\"a\\\"b\""), ("a\\(exit(1))", "\"a\\\\(exit(1))\""), ("a\nb", "\"a\\u{a}b\""),
      ("a\u{2028}b\u{202E}c", "\"a\\u{2028}b\\u{202e}c\""), ("ä鳥", "\"ä鳥\""),
    ])
  func literals(text: String, literal: String) {
    #expect(SwiftName.literal(text) == literal)
    #expect(!SwiftName.comment(text + "*/ /*\r\n").contains { $0.isNewline })
    #expect(!SwiftName.comment(text + "*/").contains("*/"))
  }

  @Test("what is no model is refused with its reason")
  func refuses() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("birds.tflite")
      for text in ["", "version https://git-lfs.github.com/spec/v1", "hello"] {
        try Data(text.utf8).write(to: file)
        #expect(throws: ApusError.self) { try ModelInterface(modelFile: file.path) }
      }
      #expect(throws: ApusError.self) {
        try ModelInterface(modelFile: folder.appendingPathComponent("no").path)
      }
    }
  }

  @Test(
    "a type has the model's tensors, classes and checksum",
    .enabled(if: data != nil, "APUS_TEST_DATA is not set"))
  func source() throws {
    let path = try #require(data) + "/models/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata.tflite"
    let source = try ModelInterface(modelFile: path, typeName: "Street").source()
    for line in [
      "final class Street {", "    var image: [UInt8]", "    let numberOfDetections: [Float]",
      "    case trafficLight = 9", "static func task(model: Model, options: ObjectDetector.Options",
    ] { #expect(source.contains(line), "\(line)") }
    for name in ["no name", "Model", "String"] {
      #expect(throws: ApusError.self) { try ModelInterface(modelFile: path, typeName: name) }
    }
    // A class may have the name of what the enumeration has besides.
    try withTemporaryFolder { folder in
      let labels = folder.appendingPathComponent("labels.txt")
      try Data("names\nname\nallCases\n".utf8).write(to: labels)
      let source = try ModelInterface(modelFile: path, labelsFile: labels.path).source()
      for line in ["    case names_0 = 0", "    case name_1 = 1", "    case allCases_2 = 2"] {
        #expect(source.contains(line), "\(line)")
      }
    }
  }
}
