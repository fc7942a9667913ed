// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Foundation
import TestSupport
import Testing

/// Items of different callers share a run only where it is proved that none of them changes another.
@Suite struct BatchingTests {
  /// One operator, or a few, over an input whose first dimension is open.
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    /// The shape of `x` beside the batch.
    let row: [Int32]
    /// All tensors after `x`.
    let tensors: [TestModel.TensorSpec]
    let operators: [TestModel.OperatorSpec]
    let output: Int32

    var testDescription: String { name }

    var model: Model {
      get throws {
        var x = TestModel.TensorSpec(name: "x", shape: [1] + row)
        x.signature = [-1] + row
        var tensors = [x] + tensors
        tensors[Int(output)].signature = [-1] + tensors[Int(output)].shape.dropFirst()
        return try TestModel(tensors: tensors, operators: operators, inputs: [0], outputs: [output]).model()
      }
    }
  }

  private static func numbers(_ name: String, _ values: [Int32], shape: [Int32]? = nil)
    -> TestModel.TensorSpec
  {
    .init(
      name: name, type: TestModel.int32, shape: shape ?? [Int32(values.count)],
      data: values.flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } })
  }

  private static func floats(_ name: String, _ shape: [Int32]) -> TestModel.TensorSpec {
    let count = shape.reduce(1, *)
    return .init(name: name, shape: shape, data: TestModel.bytes((0..<count).map { Float($0 % 7) - 3 }))
  }

  private static func sample(
    _ name: String, row: [Int32] = [4], code: OperatorCode, constants: [TestModel.TensorSpec] = [],
    result: [Int32],
    inputs: [Int32]? = nil, options: TestOptions = .none
  ) -> Sample {
    let output = Int32(constants.count + 1)
    return Sample(
      name: name, row: row, tensors: constants + [.init(name: "y", shape: result)],
      operators: [
        .init(code: code, inputs: inputs ?? Array(0..<output), outputs: [output], options: options)
      ], output: output)
  }

  static let apart: [Sample] = [
    sample("RELU", code: .relu, result: [1, 4]),
    sample("ADD of a constant", code: .add, constants: [floats("c", [4])], result: [1, 4]),
    sample("ADD of a row", code: .add, constants: [floats("c", [1, 4])], result: [1, 4]),
    sample("ADD of itself", code: .add, result: [1, 4], inputs: [0, 0]),
    sample(
      "RESHAPE", row: [6], code: .reshape, constants: [numbers("s", [-1, 2, 3])], result: [1, 2, 3]),
    sample(
      "TRANSPOSE", row: [2, 3], code: .transpose, constants: [numbers("p", [0, 2, 1])], result: [1, 3, 2]),
    sample("SOFTMAX", code: .softmax, result: [1, 4], options: .softmax(beta: 1)),
    sample("MEAN", row: [3, 4], code: .mean, constants: [numbers("a", [1])], result: [1, 4]),
    sample("REDUCE_MAX", row: [3, 4], code: .reduceMax, constants: [numbers("a", [-1])], result: [1, 3]),
    sample(
      "PAD", row: [3], code: .pad, constants: [numbers("p", [0, 0, 1, 2], shape: [2, 2])], result: [1, 6]),
    sample(
      "GATHER", code: .gather, constants: [numbers("i", [3, 0])], result: [1, 2], options: .gather(axis: 1)),
    sample(
      "SLICE", code: .slice, constants: [numbers("b", [0, 1]), numbers("s", [-1, 2])], result: [1, 2]),
    sample(
      "STRIDED_SLICE", code: .stridedSlice,
      constants: [numbers("b", [0, 3]), numbers("e", [0, 0]), numbers("s", [1, -1])], result: [1, 3],
      options: .stridedSlice(beginMask: 1, endMask: 1)),
    sample("REVERSE_V2", code: .reverseV2, constants: [numbers("a", [1])], result: [1, 4]),
    sample(
      "CONCATENATION", code: .concatenation, result: [1, 8], inputs: [0, 0], options: .concatenation(axis: 1)),
    Sample(
      name: "RESHAPE to a shape with the batch in it", row: [2, 3],
      tensors: [

        .init(name: "shape", type: TestModel.int32, shape: [3]), numbers("b", [0]), numbers("e", [1]),
        numbers("one", [1]), .init(name: "batch", type: TestModel.int32, shape: []),
        numbers("six", [6], shape: []),
        .init(name: "packed", type: TestModel.int32, shape: [2]), .init(name: "y", shape: [1, 6]),

      ],
      operators: [
        .init(code: .shape, inputs: [0], outputs: [1]),
        .init(
          code: .stridedSlice, inputs: [1, 2, 3, 4], outputs: [5], options: .stridedSlice(shrinkMask: 1)),
        .init(code: .pack, inputs: [5, 6], outputs: [7], options: .pack(count: 2)),
        .init(code: .reshape, inputs: [0, 7], outputs: [8]),
      ], output: 8),
  ]

  static let mixing: [(sample: Sample, reason: String)] = [
    (
      sample(
        "REDUCE_MAX", code: .reduceMax, constants: [numbers("a", [0])], result: [1, 4],
        options: .reducer(keepsDimensions: true)),
      "REDUCE_MAX, works along the first axis of x"
    ),
    (
      sample(
        "MEAN of all", code: .mean, constants: [numbers("a", [0, 1])], result: [1, 1],
        options: .reducer(keepsDimensions: true)),
      "MEAN, works along the first axis"
    ),
    (
      sample(
        "RESHAPE to one row", code: .reshape, constants: [numbers("s", [1, -1])], result: [1, 4]),
      "RESHAPE, makes y, 1×8, which has no row for each of the 2"
    ),
    (
      sample(
        "RESHAPE to two rows", code: .reshape, constants: [numbers("s", [2, -1])], result: [2, 2]),
      "RESHAPE, makes y, 2×2, which has no row for each of the 1"
    ),
    (
      sample(
        "RESHAPE of rows cut in two", code: .reshape, constants: [numbers("s", [-1, 2])],
        result: [2, 2]),
      "has no row for each"
    ),
    (
      sample("TRANSPOSE", code: .transpose, constants: [numbers("p", [1, 0])], result: [4, 1]),
      "TRANSPOSE, works along the first axis"
    ),
    (
      sample("SOFTMAX of the batch", row: [], code: .softmax, result: [1], options: .softmax(beta: 1)),
      "SOFTMAX, works along the first axis"
    ),
    (
      sample(
        "CONCATENATION", code: .concatenation, result: [2, 4], inputs: [0, 0],
        options: .concatenation(axis: 0)),
      "CONCATENATION, works along the first axis"
    ),
    (
      sample(
        "CONCATENATION from the end", code: .concatenation, result: [2, 4], inputs: [0, 0],
        options: .concatenation(axis: -2)), "CONCATENATION, works along the first axis"
    ),
    (
      sample(
        "GATHER", code: .gather, constants: [numbers("i", [0])], result: [1, 4], options: .gather(axis: 0)),
      "GATHER, works along the first axis"
    ),
    (
      sample("REVERSE_V2", code: .reverseV2, constants: [numbers("a", [0])], result: [1, 4]),
      "REVERSE_V2, works along the first axis"
    ),
    (
      sample("CUMSUM", code: .cumsum, constants: [numbers("a", [-2], shape: [])], result: [1, 4]),
      "CUMSUM, works along the first axis"
    ),
    (
      sample("TILE", code: .tile, constants: [numbers("m", [2, 1])], result: [2, 4]),
      "TILE, works along the first axis"
    ),
    (
      // Row 1 would begin with the last number of row 0.
      sample(
        "FULLY_CONNECTED of longer rows", row: [11], code: .fullyConnected,
        constants: [floats("f", [3, 10])],
        result: [1, 3]), "FULLY_CONNECTED, cuts x, 1×11, into other rows"
    ),
    (
      sample(
        "BATCH_MATMUL of rows with rows", code: .batchMatMul, result: [1, 1], inputs: [0, 0],
        options: .batchMatMul(transposesRight: true)), "BATCH_MATMUL, works along the first axis"
    ),
    (
      Sample(
        name: "ADD of a number of each row as if it were one of each column", row: [4],
        tensors: [
          numbers("a", [1]), .init(name: "m", shape: [1]), .init(name: "y", shape: [1, 4]),
        ],
        operators: [
          .init(code: .mean, inputs: [0, 1], outputs: [2]),
          .init(code: .add, inputs: [0, 2], outputs: [3]),
        ], output: 3), "ADD, repeats m, 1, along the first axis"
    ),
    (
      // The answer of each depends on how many ask.
      Sample(
        name: "MUL by the batch", row: [4],
        tensors: [

          .init(name: "shape", type: TestModel.int32, shape: [2]), numbers("b", [0]), numbers("e", [1]),
          numbers("one", [1]), .init(name: "batch", type: TestModel.int32, shape: []),
          .init(name: "number", shape: []), .init(name: "y", shape: [1, 4]),

        ],
        operators: [
          .init(code: .shape, inputs: [0], outputs: [1]),
          .init(
            code: .stridedSlice, inputs: [1, 2, 3, 4], outputs: [5], options: .stridedSlice(shrinkMask: 1)),
          .init(code: .cast, inputs: [5], outputs: [6]),
          .init(code: .mul, inputs: [0, 6], outputs: [7]),
        ], output: 7), "MUL, reads values that depend on the batch"
    ),
    (
      Sample(
        name: "WHERE", row: [4], tensors: [.init(name: "y", type: 4, shape: [1, 2])],
        operators: [.init(code: .where, inputs: [0], outputs: [1])], output: 1),
      "WHERE, has shapes that depend on data"
    ),
  ]

  @Test("operators that keep rows apart join", arguments: apart)
  func keepsRowsApart(_ sample: Sample) throws {
    let model = try sample.model
    let batching = try model.batching(upTo: 5)
    #expect(batching.joins && batching.count == 5 && batching.reason == nil, "\(batching.reason ?? "")")
    for scale: Float in [1, 1e30, 1e-30] { try expectEqualRows(model, count: 5, scale: scale) }
  }

  @Test("operators that mix rows are named", arguments: mixing.indices)
  func namesMixing(_ index: Int) throws {
    let (sample, reason) = Self.mixing[index]
    let batching = try sample.model.batching(upTo: 5)
    #expect(!batching.joins && batching.count == 1)
    #expect(batching.reason?.contains(reason) ?? false, "\(sample.name): \(batching.reason ?? "joins")")
  }

  @Test("a model that mixes rows only beyond a bound does not join")
  func findsWhatTrialsMiss() throws {
    var x = TestModel.TensorSpec(name: "x", shape: [1, 4])
    x.signature = [-1, 4]
    var y = TestModel.TensorSpec(name: "y", shape: [1, 4])
    y.signature = [-1, 4]
    let model = try TestModel(
      tensors: [
        x, Self.numbers("axes", [0, 1]), .init(name: "largest", shape: []),
        .init(name: "two", shape: [], data: TestModel.bytes([-2])), .init(name: "less", shape: []),
        .init(name: "beyond", shape: []), y,
      ],
      operators: [
        .init(code: .reduceMax, inputs: [0, 1], outputs: [2]),
        .init(code: .add, inputs: [2, 3], outputs: [4]),
        .init(code: .relu, inputs: [4], outputs: [5]),
        .init(code: .add, inputs: [0, 5], outputs: [6]),
      ], inputs: [0], outputs: [6]
    ).model()
    let reason = try #require(try model.batching(upTo: 8).reason)
    #expect(reason.hasPrefix("operator #0, REDUCE_MAX, works along the first axis of x"))
  }

  @Test("the first dimensions of all inputs and outputs must be open")
  func wantsOpenDimensions() throws {
    let closed = try TestModel.chain(shape: [1, 4]).model().batching(upTo: 8)
    #expect(!closed.joins)
    #expect(closed.reason?.contains("has the first dimension 1, not -1") ?? false)
  }

  @Test(
    "float products join only if one row is added as several are",
    arguments: Runtime.kernelSets.filter(\.isSupported).map(\.name))
  func comparesOrders(kernels: KernelSetName) throws {
    let sample = Self.sample(
      "FULLY_CONNECTED", row: [64], code: .fullyConnected, constants: [Self.floats("f", [32, 64])],
      result: [1, 32])
    let model = try sample.model
    var options = Interpreter.Options()
    options.kernels = kernels
    let batching = try model.batching(upTo: 8, options: options)
    if batching.joins {
      for scale: Float in [1, 1e3] {
        try expectEqualRows(model, count: batching.count, scale: scale, kernels: kernels)
      }
    } else {
      #expect(batching.reason?.contains("order") ?? false, "\(batching.reason ?? "")")
    }
  }

  @Test("a mean of a large image is added in parts if it is alone, and so does not join")
  func comparesParts() throws {
    let model = { (side: Int32) in
      try Self.sample(
        "MEAN", row: [side, side, 16], code: .mean, constants: [Self.numbers("a", [1, 2])],
        result: [1, 16]
      ).model
    }
    #expect(try model(8).batching(upTo: 3).joins)
    let reason = try model(64).batching(upTo: 3).reason
    #expect(reason == "operator #0, MEAN, adds the floats of 2 rows in another order than those of 1")
  }

  @Test(
    "published models with an open batch",
    .enabled(if: PublishedModels.folder != nil, "APUS_TEST_DATA names no folder"),
    arguments: [
      "basicpitch_nmp", "mlperftiny_ad01_int8", "mlperftiny_kws_ref_model",
      "mlperftiny_pretrainedResnet_large_int8",
      "mlperftiny_vww_96_int8", "silabsmltk_keyword_spotting_alexa",
    ])
  func joinsPublishedModels(name: String) throws {
    let model = try Model(contentsOfFile: "\(PublishedModels.folder ?? "")/\(name).tflite")
    let batching = try model.batching(upTo: 3)
    #expect(batching.count == 3, "\(batching.reason ?? "")")
    try expectEqualRows(model, count: 3, scale: 1e3)
  }

  /// Rows together have the bytes of each alone.
  private func expectEqualRows(
    _ model: Model, count: Int, scale: Float, kernels: KernelSetName? = nil
  ) throws {
    var options = Interpreter.Options()
    options.kernels = kernels
    let shape = try Interpreter(model: model, options: options).inputs[0].shape.dimensions
    options.inputShapes[0] = TensorShape([count] + shape.dropFirst())
    let together = try Interpreter(model: model, options: options)
    options.inputShapes[0] = TensorShape([1] + shape.dropFirst())
    let alone = try Interpreter(model: model, options: options)
    var random = SeededGenerator(seed: 5)
    let length = shape.dropFirst().reduce(1, *)
    let isFloat = together.inputs[0].type == .float32
    // The first row is larger than all others.
    let rows = (0..<count).map { row in
      isFloat
        ? TestModel.bytes(
          (0..<length).map { _ in Float.random(in: -1...1, using: &random) * (row == 0 ? scale : 1) })
        : random.bytes(length)
    }
    let all = try run(together, rows.flatMap { $0 })
    var expected: [[UInt8]] = []
    for row in rows {
      for (position, bytes) in try run(alone, row).enumerated() {
        if expected.count == position { expected.append([]) }
        expected[position] += bytes
      }
    }
    #expect(all == expected)
  }

  /// The bytes of all outputs.
  private func run(_ interpreter: Interpreter, _ input: [UInt8]) throws -> [[UInt8]] {
    try interpreter.withInputBytes(at: 0) { (span: inout MutableRawSpan) throws(ApusError) in
      span.withUnsafeMutableBytes { $0.copyBytes(from: input) }
    }
    try interpreter.invoke()
    return try interpreter.outputs.indices.map { position in
      try interpreter.withOutputBytes(at: position) { span in span.withUnsafeBytes { Array($0) } }
    }
  }
}
