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
          "trafficLight", "`class`", "trafficLight_2", "trafficLight_3", "value", "value7up", "cpu", "self_7",
        ])
    // Behind a dot, these stand for something else.
    #expect(SwiftName.members(["init", "self", "Self", "in"]) == ["init_0", "self_1", "self_2", "`in`"])
    #expect(["`in`", "`inout`", "x"].map(SwiftName.argument) == ["in", "`inout`", "x"])
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

  @Test(
    "a pin that is there and is not the model's SHA-256 is an error",
    arguments: [
      ("0", "begins with '0'"), ("", "is empty"), (" \n", "is empty"), ("\0\0", "UTF-16"),
      (String(repeating: "0", count: 64), "not 0000"), (String(repeating: "é", count: 32), "begins with"),
      ("SHA256 (m.tflite) = \(String(repeating: "1", count: 64))", "--tag"),
    ])
  func refusesPins(text: String, reason: String) throws {
    let sha256 = String(repeating: "1", count: 64)
    try withTemporaryFolder { folder in
      let model = folder.appendingPathComponent("m.tflite").path
      try ModelPin.check(model, sha256: sha256)
      func message() -> String {
        do { try ModelPin.check(model, sha256: sha256) } catch { return error.message }
        return ""
      }
      try Data(text.utf8).write(to: URL(fileURLWithPath: model + ".sha256"))
      #expect(message().contains(reason))
      for right in [sha256, "\u{FEFF}\(sha256)  m.tflite\n", "\\\(sha256) *m\\\\.tflite"] {
        try Data(right.utf8).write(to: URL(fileURLWithPath: model + ".sha256"))
        #expect(message() == "")
      }
      try FileManager.default.removeItem(atPath: model + ".sha256")
      try FileManager.default.createSymbolicLink(
        atPath: model + ".sha256", withDestinationPath: folder.appendingPathComponent("none").path)
      #expect(message().contains("cannot read"))
    }
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

  @Test("without a choice, the type runs the main function, whatever signatures others have")
  func mainFunction() throws {
    let bytes = model(["x"], ["y"], signatures: ["serving_default"], signedSubgraph: 1)
    try withFile(bytes) { file, _ in
      let source = try ModelInterface(modelFile: file).source()
      #expect(source.contains("signature: nil)") && source.contains("var x: [Float]"))
      let other = try ModelInterface(modelFile: file, signature: "serving_default").source()
      #expect(other.contains(#"signature: "serving_default")"#))
    }
  }

  // MARK: Models of a test

  /// A model whose inputs are pictures and whose outputs are constants of four floats.
  private func model(
    _ inputs: [String], _ outputs: [String], signature: [Int32]? = nil, signatures: [String] = [],
    classes: Int = 4, signedSubgraph: Int32 = 0
  ) -> [UInt8] {
    let values = [UInt8](repeating: 0, count: 4 * classes)
    func tensor(_ name: String, _ shape: [Int32], buffer: Int32) -> FlatTable {
      var fields: [Int: FlatTable.Field] = [
        0: .ints(shape), 1: .byte(0), 2: .int(buffer), 3: .text(name),
      ]
      if let signature, buffer == 0 { fields[7] = .ints(signature) }
      return FlatTable(fields)
    }
    func maps(_ names: [String], from first: Int) -> FlatTable.Field {
      .tables(names.enumerated().map { FlatTable([0: .text($1), 1: .int(Int32(first + $0))]) })
    }
    let graph = FlatTable([
      0: .tables(
        inputs.map { tensor($0, [1, 8, 8, 3], buffer: 0) }
          + outputs.map { tensor($0, [1, Int32(classes)], buffer: 1) }),
      1: .ints(inputs.indices.map { Int32($0) }),
      2: .ints(outputs.indices.map { Int32(inputs.count + $0) }), 3: .tables([]),
    ])
    return FlatTable([
      0: .int(3), 1: .tables([]), 2: .tables(Array(repeating: graph, count: Int(signedSubgraph) + 1)),
      4: .tables([FlatTable(), FlatTable([0: .bytes(values)])]),
      7: .tables(
        signatures.map { key in
          FlatTable([
            0: maps(inputs.map { "\(key) \($0)" }, from: 0),
            1: maps(outputs.map { "\(key) \($0)" }, from: inputs.count), 2: .text(key),
            4: .int(signedSubgraph),
          ])
        }),
    ]).file(identifier: "TFL3")
  }

  /// Calls `body` with the file of a model.
  private func withFile(_ bytes: [UInt8], _ body: (String, URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("net.tflite")
      try Data(bytes).write(to: file)
      try body(file.path, folder)
    }
  }

  @Test(
    "classes have the names that the task gives them",
    arguments: [
      // A segmenter has a class for the background.
      (
        [([1, 8, 8, 3], 192)], "background\nperson\nhorse\n", "ImageSegmenter",
        ["background", "person", "horse"]
      ),
      ([([1, 8, 8, 1], 64)], "background\nperson\n", "ImageSegmenter", ["background", "person"]),
      ([([1, 8, 8, 1], 64)], "person\n", "ImageSegmenter", ["", "person"]),
      ([([1, 3], 3)], "person\nhorse\n", "ImageClassifier", ["", "person", "horse"]),
      ([([1, 3], 3)], "background\nperson\nhorse\n", "ImageClassifier", ["background", "person", "horse"]),
    ] as [([(shape: [Int32], count: Int)], String, String, [String])])
  func takesNamesFromTheTask(
    outputs: [(shape: [Int32], count: Int)], labels: String, task: String, expected: [String]
  ) throws {
    let bytes = constantModel(
      side: 64, outputs.map { ($0.shape, [Float](repeating: 0.25, count: $0.count)) })
    try withFile(bytes) { file, folder in
      let path = folder.appendingPathComponent("labels.txt")
      try Data(labels.utf8).write(to: path)
      let source = try ModelInterface(modelFile: file, labelsFile: path.path).source()
      #expect(source.contains("/// It is one for `\(task)`"))
      for (index, name) in expected.enumerated() {
        #expect(source.contains("    case \(name.isEmpty ? "class0" : name) = \(index)\n"), "\(source)")
      }
      #expect(!source.contains("= \(expected.count)\n"))
      // The task gets the names in the same places; an empty one is none.
      let names = "Label.allCases.map(\\.name)"
      let given = expected.contains("") ? "\(names).map { $0.isEmpty ? nil : $0 }" : names
      #expect(source.contains("labels: LabelMap(\(given), offset: 0)"))
    }
  }

  @Test("a detector whose boxes have a score for the background has a class for it")
  func takesNamesFromTheDetector() throws {
    struct Golden: Decodable {
      let name: String
      let model: String
    }
    let all: [Golden] = goldens("yolo-later")
    let golden = try #require(all.first { $0.name == "YOLO-NAS of 64x64" })
    try withFile(Array(#require(Data(base64Encoded: golden.model)))) { file, folder in
      let path = folder.appendingPathComponent("labels.txt")
      try Data("background\nbee\ncat\n".utf8).write(to: path)
      let source = try ModelInterface(modelFile: file, labelsFile: path.path).source()
      #expect(source.contains("/// It is one for `ObjectDetector`"))
      for line in ["case background = 0\n", "case bee = 1\n", "case cat = 2\n"] {
        #expect(source.contains(line), "\(source)")
      }
    }
  }

  @Test("labels that are more or fewer than the classes, or that nothing reads, are warned of")
  func warnsOfLabels() throws {
    try withFile(model(["image"], ["scores"], classes: 10)) { file, folder in
      let labels = folder.appendingPathComponent("labels.txt")
      for (names, warnings) in [("a\nb\nc\n", 1), ((0..<10).map { "name \($0)\n" }.joined(), 0)] {
        try Data(names.utf8).write(to: labels)
        let found = try ModelInterface(modelFile: file, labelsFile: labels.path).warnings
        #expect(found.count == warnings && found.allSatisfy { $0.contains("3 labels for 10 classes") })
      }
    }
    let faces = constantModel(
      side: 128,
      [
        ([1, 896, 16], [Float](repeating: 0, count: 896 * 16)),
        ([1, 896, 1], [Float](repeating: -9, count: 896)),
      ])
    try withFile(faces) { file, folder in
      let labels = folder.appendingPathComponent("labels.txt")
      try Data("face\n".utf8).write(to: labels)
      let interface = try ModelInterface(modelFile: file, labelsFile: labels.path)
      #expect(interface.warnings == ["the labels are not used: a model for FaceDetector has no classes"])
      #expect(!interface.source().contains("enum Label"))
    }
  }

  @Test("words of the language are arguments without backticks")
  func keywords() throws {
    try withFile(model(["in", "self"], ["class", "init"])) { file, _ in
      let source = try ModelInterface(modelFile: file).source()
      for line in [
        "    var `in`: [Float]", "    var self_1: [Float]", "    init(`in`: [Float], self_1: [Float]) {",
        "    try interpreter.copy(input.`in`, toInputAt: 0)",
        "    return try Output(class: interpreter.output(at: 0), init_1: interpreter.output(at: 1))",
      ] { #expect(source.contains(line + "\n"), "\(line)") }
    }
  }

  @Test("axes that a model leaves open may have any size")
  func openAxes() throws {
    try withFile(model(["image"], ["scores"], signature: [-1, -1, -1, 3])) { file, _ in
      let source = try ModelInterface(modelFile: file).source()
      for line in [
        "    /// `image`: float32 ?×?×?×3, 1×8×8×3 unless `Options.inputShapes` says otherwise.",
        #"    let expected: [String] = ["float32 [-1, -1, -1, 3]", "float32 [1, 4]"]"#,
      ] { #expect(source.contains(line + "\n"), "\(line)") }
      #expect(source.contains("$0.shapeSignature"))
      var options = Interpreter.Options()
      options.inputShapes[0] = [2, 9, 7, 3]
      let resized = try Interpreter(model: Model(contentsOfFile: file), options: options)
      #expect((resized.inputs + resized.outputs).map(\.shapeSignature) == [[-1, -1, -1, 3], [1, 4]])
    }
    try withFile(model(["image"], ["scores"])) { file, _ in
      let source = try ModelInterface(modelFile: file).source()
      #expect(source.contains("$0.shape.dimensions") && source.contains("float32 1×8×8×3."))
    }
  }

  @Test("one of several signatures names inputs and outputs")
  func signatures() throws {
    try withFile(model(["x"], ["y"], signatures: ["encode", "decode"])) { file, _ in
      let first = try ModelInterface(modelFile: file).source()
      #expect(first.contains(#"signature: "encode")"#) && first.contains("var encodeX: [Float]"))
      let second = try ModelInterface(modelFile: file, signature: "decode").source()
      #expect(second.contains(#"signature: "decode")"#) && second.contains("var decodeX: [Float]"))
      #expect(
        second.contains("Its signatures are `encode`, `decode`. Inputs and outputs are those of `decode`."))
      let error = #expect(throws: ApusError.self) { try ModelInterface(modelFile: file, signature: "x") }
      #expect(error?.message == "the model has no signature 'x', but 'encode', 'decode'")
    }
  }

  @Test("classes without letters have their numbers, and very many have names alone")
  func labels() throws {
    try withFile(model(["x"], ["y"])) { file, folder in
      let labels = folder.appendingPathComponent("labels.txt")
      func source(_ names: [String]) throws -> String {
        try Data(names.map { $0 + "\n" }.joined().utf8).write(to: labels)
        return try ModelInterface(modelFile: file, labelsFile: labels.path).source()
      }
      let few = try source(["cat", "🐱", "self", "none"])
      for line in ["case cat = 0", "case class1 = 1", "case self_2 = 2"] {
        #expect(few.contains(line), "\(line)")
      }
      // A list that leaves out the background, which has a score.
      #expect(try source(["cat", "dog", "owl"]).contains("case cat = 1"))
    }
    try withFile(model(["x"], ["y"], classes: 2_001)) { file, folder in
      let labels = folder.appendingPathComponent("labels.txt")
      try Data((0...2_000).map { "a \"label\" \($0)\n" }.joined().utf8).write(to: labels)
      let many = try ModelInterface(modelFile: file, labelsFile: labels.path).source()
      #expect(!many.contains("enum Label") && many.contains("names of the model's 2001 classes"))
      #expect(many.contains("static let labelNames: [String] = \"\"\"\n    a \\\"label\\\" 0\n"))
    }
  }
}
