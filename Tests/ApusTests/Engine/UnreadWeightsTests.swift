// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusCodeGeneration
import ApusFormat
import ApusKernels
import Foundation
import TestSupport
import Testing

/// Large weights of a model's file, which are read when they are packed.
@Suite("Unread weights")
struct UnreadWeightsTests {
  private static let sizes = (pixels: 8, inner: 64, outer: 640)

  /// Two convolutions whose weights take 160 KiB each.
  private static var model: TestModel {
    let (pixels, inner, outer) = (Int32(sizes.pixels), Int32(sizes.inner), Int32(sizes.outer))
    var random = SeededGenerator(seed: 1)
    func values(_ count: Int32) -> [UInt8] {
      TestModel.bytes((0..<count).map { _ in .random(in: -1...1, using: &random) })
    }
    return TestModel(
      tensors: [
        .init(name: "x", shape: [1, pixels, pixels, inner]),
        .init(name: "middle", shape: [1, pixels, pixels, outer]),
        .init(name: "y", shape: [1, pixels, pixels, inner]),
        .init(name: "bias", shape: [outer], data: values(outer)),
        .init(name: "second bias", shape: [inner], data: values(inner)),
        .init(name: "widening", shape: [outer, 1, 1, inner], data: values(outer * inner)),
        .init(name: "narrowing", shape: [inner, 1, 1, outer], data: values(outer * inner)),
      ],
      operators: [
        .init(code: .conv2D, inputs: [0, 5, 3], outputs: [1], options: .conv2D()),
        .init(code: .conv2D, inputs: [1, 6, 4], outputs: [2], options: .conv2D()),
      ],
      inputs: [0], outputs: [2])
  }

  private func output(_ model: Model, _ kernels: KernelSetName) throws -> [Float] {
    var options = Interpreter.Options()
    options.kernels = kernels
    let interpreter = try Interpreter(model: model, options: options)
    let count = Self.sizes.pixels * Self.sizes.pixels * Self.sizes.inner
    try interpreter.copy((0..<count).map { Float($0 % 17) - 8 }, toInputAt: 0)
    try interpreter.invoke()
    return try interpreter.output(at: 0)
  }

  /// Calls `body` with a model that was read from a file, and the file.
  private func withModel(_ body: (Model, URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "model.tflite")
      try Data(Self.model.bytes).write(to: file)
      try body(try Model(contentsOfFile: file.path), file)
    }
  }

  /// Whether the middle of a constant has not been read into its place.
  private func isUnread(_ model: Model, tensor: Int) throws -> Bool {
    let data = try #require(model.file.subgraphs[0].tensors[tensor].data)
    let middle = (data.lowerBound + data.upperBound) / 2
    return !model.file.bytes.contains(middle..<middle + 64)
  }

  private static let names = KernelSet.supported.map { KernelSetName(rawValue: $0.name) }

  @Test("each kernel set reads what it packs, which stays out of its place")
  func repacks() throws {
    let inMemory = try Self.model.model()
    try withModel { model, _ in
      for name in Self.names + Self.names {
        let expected = try output(inMemory, name)
        #expect(try output(model, name) == expected, "\(name)")
        for tensor in [5, 6] { #expect(try isUnread(model, tensor: tensor)) }
      }
    }
  }

  @Test("interpreters that are made at once do not take weights from each other")
  func concurrently() async throws {
    let inMemory = try Self.model.model()
    var expected: [KernelSetName: [Float]] = [:]
    for name in Self.names { expected[name] = try output(inMemory, name) }
    for _ in 0..<10 {
      try await withThrowingTaskGroup(of: (KernelSetName, [Float]).self) { group in
        try withModel { model, _ in
          for name in Self.names + Self.names { group.addTask { (name, try output(model, name)) } }
        }
        for try await (name, values) in group { #expect(values == expected[name], "\(name)") }
      }
    }
  }

  @Test("a file that is removed or replaced does no harm")
  func replaced() throws {
    let expected = try output(Self.model.model(), "portable")
    try withModel { model, file in
      _ = try Interpreter(model: model)
      try Data(count: 400_000).write(to: file, options: .atomic)
      #expect(try output(model, "portable") == expected)
      try FileManager.default.removeItem(at: file)
      #expect(try output(model, "blas").count == expected.count)
    }
  }

  @Test("a file that was written to is an error", arguments: [0, 100_000, 400_000])
  func changed(length: UInt64) throws {
    try withModel { model, file in
      _ = try Interpreter(model: model)
      let handle = try FileHandle(forWritingTo: file)
      if length > 0 { try handle.truncate(atOffset: length) } else { try handle.write(contentsOf: [0]) }
      try handle.close()
      let error = #expect(throws: ApusError.self) { try output(model, "portable") }
      #expect(error?.code == .unreadableFile)
      let reason = length == 100_000 ? "the file became shorter" : "the file was changed"
      #expect(error?.message.hasSuffix(reason) == true, "\(error?.message ?? "")")
      // Weights packed before need no file.
      _ = try Interpreter(model: model)
    }
  }

  @Test(
    "weights that share bytes with a small constant are there where it is",
    arguments: [5, 6])
  func overlapping(weights: Int) throws {
    var bytes = Self.model.bytes
    let file = try ModelFile(FileBytes(copying: bytes))
    let bias = try #require(file.subgraphs[0].tensors[3].data)
    let shared = try #require(file.subgraphs[0].tensors[weights].data)
    func store(_ value: Int, at place: Int) {
      withUnsafeBytes(of: UInt32(value).littleEndian) { bytes.replaceSubrange(place..<place + 4, with: $0) }
    }
    // The bias becomes a vector in the middle of the weights: its count, then its values.
    let place = (shared.lowerBound + shared.count / 2) & ~15 + 12
    let field = try #require(
      stride(from: 0, to: bias.lowerBound - 4, by: 4).first { start in
        let offset = (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
        return start + offset == bias.lowerBound - 4
      })
    store(place - field, at: field)
    store(bias.count, at: place)
    let expected = try output(Model(bytes: bytes), "portable")
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "model.tflite")
      try Data(bytes).write(to: path)
      let model = try Model(contentsOfFile: path.path)
      #expect(try #require(model.file.subgraphs[0].tensors[3].data).lowerBound == place + 4)
      for name in Self.names + [.portable] {
        let output = try output(model, name)
        if name == .portable { #expect(output == expected) }
        #expect(try !isUnread(model, tensor: weights))
        #expect(try isUnread(model, tensor: 11 - weights))
      }
    }
  }

  @Test("views of constants have their values, be they outputs or read", arguments: [true, false])
  func views(isOutput: Bool) throws {
    let count: Int32 = 100_000
    let values = (0..<count).map { Float($0 % 251) + 1 }
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [count]), .init(name: "y", shape: [count]),
        .init(name: "view", shape: [count]),
        .init(name: "constant", shape: [1, count], data: TestModel.bytes(values)),
        .init(name: "shape", type: TestModel.int32, shape: [1], data: [0xA0, 0x86, 1, 0]),
      ],
      operators: [
        .init(code: .reshape, inputs: [3, 4], outputs: [2]),
        .init(code: .mul, inputs: isOutput ? [0, 0] : [0, 2], outputs: [1]),
      ],
      inputs: [0], outputs: isOutput ? [1, 2] : [1])
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "model.tflite")
      try Data(model.bytes).write(to: path)
      let interpreter = try Interpreter(model: Model(contentsOfFile: path.path))
      try interpreter.copy([Float](repeating: 1, count: Int(count)), toInputAt: 0)
      for _ in 0..<2 {
        try interpreter.invoke()
        #expect(try interpreter.output(at: isOutput ? 1 : 0) == values)
      }
    }
  }

  @Test("values that were only packed can be read")
  func values() throws {
    let expected = try #require(Self.model.tensors[6].data)
    try withModel { model, _ in
      let interpreter = try Interpreter(model: model)
      let values = try interpreter.withTensor(at: 6, as: Float.self) { span in span.indices.map { span[$0] } }
      #expect(TestModel.bytes(values) == expected)
      let output = try output(Self.model.model(), "portable")
      #expect(try self.output(model, "portable") == output)
      #expect(try !isUnread(model, tensor: 6))
    }
  }
}
