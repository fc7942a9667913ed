// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusTesting
import ApusVision
import Foundation
import TestSupport
import Testing

/// Comparisons with tensors that LiteRT's reference kernels computed and kept.
@Suite struct TensorComparisonTests {
  private struct Golden: Decodable {
    let name: String
    let model: Data
    let files: [String: Data]
  }

  private static let goldens: [Golden] = TestSupport.goldens("tensors")

  /// Calls `body` with a golden's model and a folder of its dumped tensors, without those in `left`.
  private func withReference(
    _ name: String, without left: Set<String> = [], _ body: (Model, URL) throws -> Void
  ) throws {
    let golden = try #require(Self.goldens.first { $0.name == name })
    try withTemporaryFolder { folder in
      for (file, bytes) in golden.files where !left.contains(file) {
        try bytes.write(to: folder.appending(path: "\(file).npy"))
      }
      try body(try Model(bytes: Array(golden.model)), folder)
    }
  }

  /// Adds to one byte of a file's elements.
  private func change(_ file: String, in folder: URL, at offset: Int, by amount: UInt8) throws {
    let url = folder.appending(path: "\(file).npy")
    var bytes = try Data(contentsOf: url)
    let head = 10 + Int(bytes[8]) + 256 * Int(bytes[9])
    bytes[head + offset] &+= amount
    try bytes.write(to: url)
  }

  @Test func integersOfTheReferenceMatchExactly() throws {
    try withReference("convolutions") { model, folder in
      let comparison = try TensorComparison(of: model, withReference: folder.path)
      #expect(comparison.differences.map(\.name) == ["t3", "t6", "t9", "t10", "t12"])
      #expect(comparison.differences.allSatisfy { $0.largest == 0 && $0.signalToNoise == .infinity })
      #expect(comparison.first == nil && comparison.uncompared.isEmpty)
      try expect(model, matches: folder.path)
    }
  }

  @Test("a name that several tensors have tells none of them")
  func leavesOutRepeatedNames() throws {
    func model(_ names: [String]) throws -> Model {
      let codes: [Int32] = [101, 59]  // ABS and NEG.
      let nodes: [(code: Int32, input: Int32)] = [(0, 0), (1, 0), (1, 2)]
      return try Model(
        bytes: FlatTable([
          0: .int(3),
          1: .tables(codes.map { FlatTable([0: .byte(UInt8($0)), 2: .int(1), 3: .int($0)]) }),
          2: .tables([
            FlatTable([
              0: .tables((["x"] + names).map { FlatTable([0: .ints([1, 4]), 1: .byte(0), 3: .text($0)]) }),
              1: .ints([0]), 2: .ints([3]),
              3: .tables(
                nodes.enumerated().map { index, node in
                  FlatTable([0: .int(node.code), 1: .ints([node.input]), 2: .ints([Int32(index + 1)])])
                }),
            ])
          ]), 4: .tables([FlatTable()]),
        ]).file(identifier: "TFL3"))
    }
    let input = [NumPyArray(floats: [1, -2, 3, 4], shape: [1, 4])]
    func comparison(_ names: [String], _ others: [String]) throws -> TensorComparison {
      try TensorComparison(
        of: model(names), with: model(others), arrays: input, tolerance: nil, options: Interpreter.Options())
    }
    let own = try comparison(["same", "same", "y"], ["same", "same", "y"])
    #expect(own.first == nil && own.differences.map(\.name) == ["y"] && own.uncompared == ["same", "same"])
    // Neither may be taken for the other model's only tensor of the name.
    for (names, others) in [(["same", "same"], ["a", "same"]), (["same", "b"], ["same", "same"])] {
      let found = try comparison(names + ["y"], others + ["y"])
      #expect(found.first == nil && found.differences.map(\.name) == ["y"])
    }
  }

  @Test func namesTheFirstDifferentTensorAndItsOperator() throws {
    try withReference("convolutions") { model, folder in
      try change("tensor_10", in: folder, at: 7, by: 2)
      try change("tensor_6", in: folder, at: 3, by: 1)
      let comparison = try TensorComparison(of: model, withReference: folder.path)
      let first = try #require(comparison.first)
      #expect(first.name == "t6" && first.position == 3 && first.allowed == 0)
      #expect(first.producer?.index == 1 && first.producer?.name == "CONV_2D")
      // The tensor's scale is that of one step.
      #expect(abs(first.largest - 0.0014233741676434875) < 1e-9)
      let error = #expect(throws: ApusError.self) { try expect(model, matches: folder.path) }
      #expect(error?.code == .differentTensor)
      #expect(error?.message.hasPrefix("operator #1, CONV_2D: tensor 6 (t6): element 3 is ") == true)
    }
  }

  @Test func aToleranceAllowsASmallDifference() throws {
    try withReference("convolutions") { model, folder in
      try change("tensor_12", in: folder, at: 0, by: 1)
      #expect(throws: ApusError.self) { try expect(model, matches: folder.path) }
      try expect(model, matches: folder.path, tolerance: 0.05)
    }
  }

  @Test func floatsOfTheReferenceMatchNearly() throws {
    try withReference("color-classifier") { model, folder in
      let comparison = try TensorComparison(of: model, withReference: folder.path)
      // The two larger tensors are not in the golden.
      #expect(comparison.differences.map(\.index) == [5, 6] && comparison.uncompared.count == 2)
      #expect(comparison.first == nil)
      #expect(comparison.differences.allSatisfy { $0.signalToNoise > 100 && $0.allowed > 0 })
      // The highest byte of a float is its sign and most of its exponent.
      try change("tensor_5", in: folder, at: 3, by: 0x80)
      #expect(try TensorComparison(of: model, withReference: folder.path).first?.index == 5)
    }
  }

  @Test func missingFilesAreNamed() throws {
    try withReference("convolutions", without: ["input_1", "tensor_1"]) { model, folder in
      let error = #expect(throws: ApusError.self) { try expect(model, matches: folder.path) }
      #expect(error?.message.contains("has no input_1.npy, the values of input 1 (t1)") == true)
    }
    let results = Set((0...12).map { "tensor_\($0)" })
    try withReference("convolutions", without: results) { model, folder in
      let error = #expect(throws: ApusError.self) { try expect(model, matches: folder.path) }
      #expect(
        error?.message.hasSuffix("has no file for any tensor of the model; expected names such as t12.npy")
          == true)
    }
  }

  @Test func aFolderThatDoesNotExistIsNamed() throws {
    try withReference("convolutions") { model, folder in
      let error = #expect(throws: ApusError.self) { try expect(model, matches: "\(folder.path)/other") }
      #expect(error?.code == .unreadableFile && error?.message.contains("cannot read the folder '") == true)
      let relative = #expect(throws: ApusError.self) { try expect(model, matches: "no such folder") }
      #expect(relative?.message.contains("begins at the current folder, '/") == true)
    }
  }

  @Test func filesMayKeepTheCharactersOfNames() throws {
    try withReference("convolutions", without: ["tensor_9", "tensor_12"]) { model, folder in
      let golden = try #require(Self.goldens.first { $0.name == "convolutions" })
      // In the file, a name follows its length.
      var bytes = golden.model
      let place = try #require(bytes.range(of: Data([2, 0, 0, 0] + "t9\0".utf8)))
      bytes.replaceSubrange(place, with: Data([2, 0, 0, 0] + "a;\0".utf8))
      let model = try Model(bytes: Array(bytes))
      let array = try #require(golden.files["tensor_9"])
      #expect(try TensorComparison(of: model, withReference: folder.path).uncompared == ["a;", "t12"])
      try array.write(to: folder.appending(path: "a:.npy"))
      #expect(try TensorComparison(of: model, withReference: folder.path).uncompared == ["t12"])
      // Two files may have its values, but for one with its very name.
      try array.write(to: folder.appending(path: "a|.npy"))
      #expect(try TensorComparison(of: model, withReference: folder.path).uncompared == ["a;", "t12"])
      try array.write(to: folder.appending(path: "a;.npy"))
      #expect(try TensorComparison(of: model, withReference: folder.path).uncompared == ["t12"])
    }
  }

  @Test func axesInAnotherOrderAreNotCompared() throws {
    try withReference("convolutions") { model, folder in
      let url = folder.appending(path: "tensor_12.npy")
      let array = try NumPyArray(file: Array(Data(contentsOf: url)))
      #expect(array.shape == [2, 5, 18, 12])
      func problem(_ shape: [Int]) throws -> String? {
        try Data(NumPyArray(type: array.type, shape: shape, bytes: array.bytes).file).write(to: url)
        return try TensorComparison(of: model, withReference: folder.path).first?.problem
      }
      #expect(
        try problem([2, 12, 5, 18])
          == "its shape is 2×5×18×12, but its reference has 2×12×5×18; transpose the reference")
      for shape in [[2160], [2, 90, 12], [1, 2, 5, 1, 18, 12]] { #expect(try problem(shape) == nil) }
      #expect(try problem([2, 5, 18, 12]) == nil)
    }
  }

  @Test func brokenFilesAreNamed() throws {
    try withReference("convolutions") { model, folder in
      let file = folder.appending(path: "tensor_9.npy")
      let whole = try Data(contentsOf: file)
      try whole.prefix(40).write(to: file)
      let error = #expect(throws: ApusError.self) { try expect(model, matches: folder.path) }
      #expect(error?.message.contains("tensor_9.npy': not a usable .npy file") == true)
      try whole.dropLast().write(to: file)
      let first = try TensorComparison(of: model, withReference: folder.path).first
      #expect(first?.name == "t9" && first?.problem?.contains("takes 2 bytes, but it has 1") == true)
    }
  }

  @Test func arraysOfDoublesAreNoRougherThanFloats() throws {
    try withReference("color-classifier") { model, folder in
      let url = folder.appending(path: "tensor_6.npy")
      let floats = try NumPyArray(file: Array(Data(contentsOf: url)))
      let values = try floats.numbers()
      func write(_ values: [Double], _ type: String) throws {
        let bytes = values.flatMap { value in withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
        }
        try Data(NumPyArray(type: type, shape: floats.shape, bytes: bytes).file).write(to: url)
      }
      try write(values, "<f8")
      #expect(try TensorComparison(of: model, withReference: folder.path).first == nil)
      // Far within a tenth of the largest value, which is for integers beside floats.
      try write(values.map { $0 * 1.01 }, "<f8")
      #expect(try TensorComparison(of: model, withReference: folder.path).first?.index == 6)
      try write(values, "<c8")
      let first = try #require(try TensorComparison(of: model, withReference: folder.path).first)
      #expect(first.problem == "it is float32, but its reference is complex64")
    }
  }

  @Test(arguments: [-1, Double.nan, .infinity]) func refusesTolerances(tolerance: Double) throws {
    try withReference("convolutions") { model, folder in
      #expect(throws: ApusError.self) { try expect(model, matches: folder.path, tolerance: tolerance) }
    }
  }

  @Test func aModelEqualsItself() throws {
    try withReference("convolutions") { model, folder in
      let inputs = (0...1).map { folder.appending(path: "input_\($0).npy").path }
      let comparison = try TensorComparison(of: model, with: model, inputs: inputs)
      #expect(comparison.differences.count == 5 && comparison.uncompared.isEmpty && comparison.first == nil)
      let error = #expect(throws: ApusError.self) {
        try TensorComparison(of: model, with: model, inputs: Array(inputs.dropLast()))
      }
      #expect(error?.message == "the model has 2 inputs, but 1 files are given")
    }
  }
}
