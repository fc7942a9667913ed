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

  /// The folder with the modules of this build; nil where there is none.
  private static let modules = builtExecutable("apus")?.deletingLastPathComponent().appending(path: "Modules")

  @Test(
    "names of outputs and of their real numbers differ: the type compiles",
    .enabled(
      if: modules.map { FileManager.default.fileExists(atPath: $0.path) } ?? false, "no modules are built"))
  func compiles() throws {
    // Three quantized outputs, whose real numbers would have the names of the others.
    let names = ["x", "realX", "real x", "real_x_2", "a_b", "aB", "realAB"]
    func scale() -> FlatTable { FlatTable([2: .floats([0.5]), 3: .longs([3])]) }
    let outputs = names.enumerated().map { place, name in
      FlatTable(
        [
          0: .ints([1, 2]), 1: .byte(3), 2: .int(Int32(place + 1)), 3: .text(name),
        ].merging(name.lowercased().hasPrefix("real") && place < 3 ? [:] : [4: .table(scale())]) { $1 })
    }
    let tensors = [FlatTable([0: .ints([1, 2]), 1: .byte(0), 2: .int(0), 3: .text("image")])] + outputs
    let graph = FlatTable([
      0: .tables(tensors), 1: .ints([0]), 2: .ints(names.indices.map { Int32($0 + 1) }), 3: .tables([]),
    ])
    let buffers = [FlatTable()] + names.map { _ in FlatTable([0: .bytes([1, 2])]) }
    let bytes = FlatTable([0: .int(3), 1: .tables([]), 2: .tables([graph]), 4: .tables(buffers)])
      .file(identifier: "TFL3")
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("names.tflite")
      try Data(bytes).write(to: file)
      var options = ModelInterface.SourceOptions()
      options.isResource = false
      let source = try ModelInterface(modelFile: file.path).source(options)
      #expect(source.contains("    let realX: [UInt8]") && source.contains("    var realX_3: [Float]"))
      try Data(source.utf8).write(to: folder.appendingPathComponent("Names.swift"))
      let modules = try #require(Self.modules)
      let answer = try shell(
        "swiftc -typecheck -swift-version 6 -warnings-as-errors -I '\(modules.path)' Names.swift", in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
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
