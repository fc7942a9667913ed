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
    let testDescription: String
    /// The shape of `x` beside the batch.
    let row: [Int]
    /// Adds operators on `x`, and returns the output.
    let build: @Sendable (inout TestGraph, TestGraph.Tensor) -> TestGraph.Tensor

    init(
      _ name: String, row: [Int] = [4],
      _ build: @escaping @Sendable (inout TestGraph, TestGraph.Tensor) -> TestGraph.Tensor
    ) {
      (testDescription, self.row, self.build) = (name, row, build)
    }

    var model: Model {
      get throws {
        var graph = TestGraph()
        let x = graph.input("x", [1] + row, signature: [-1] + row)
        let y = build(&graph, x)
        (graph[y].name, graph[y].shape, graph[y].signature) = ("y", [1], [-1])
        return try graph.model(outputs: [y]).model()
      }
    }
  }

  private static func floats(_ count: Int) -> [Float] { (0..<count).map { Float($0 % 7) - 3 } }

  static let apart: [Sample] = [
    Sample("RELU") { $0.relu($1) },
    Sample("ADD of a constant") { $0.add($1, $0.constant("c", [4], floats: floats(4))) },
    Sample("ADD of a row") { $0.add($1, $0.constant("c", [1, 4], floats: floats(4))) },
    Sample("ADD of itself") { $0.add($1, $1) },
    Sample("RESHAPE", row: [6]) { $0.reshape($1, to: [-1, 2, 3]) },
    Sample("TRANSPOSE", row: [2, 3]) { $0.transpose($1, [0, 2, 1]) },
    Sample("SOFTMAX") { $0.softmax($1) },
    Sample("MEAN", row: [3, 4]) { $0.mean($1, axes: [1]) },
    Sample("REDUCE_MAX", row: [3, 4]) { $0.reduce(.reduceMax, $1, axes: [-1]) },
    Sample("PAD", row: [3]) { $0.pad($1, [[0, 0], [1, 2]]) },
    Sample("GATHER") { $0.gather($1, [3, 0], axis: 1) },
    Sample("SLICE") { graph, x in
      let (begin, size) = (graph.constant("b", integers: [0, 1]), graph.constant("s", integers: [-1, 2]))
      return graph.add(.slice, inputs: [x, begin, size])
    },
    Sample("STRIDED_SLICE") { graph, x in
      let places = [[0, 3], [0, 0], [1, -1]].map { graph.constant("places", integers: $0) }
      return graph.add(
        .stridedSlice, inputs: [x] + places, options: .stridedSlice(beginMask: 1, endMask: 1))
    },
    Sample("REVERSE_V2") { $0.add(.reverseV2, inputs: [$1, $0.constant("a", integers: [1])]) },
    Sample("CONCATENATION") { $0.concatenation([$1, $1], axis: 1) },
    Sample("RESHAPE to a shape with the batch in it", row: [2, 3]) { graph, x in
      let batch = graph.element(0, of: graph.shape(x))
      let six = graph.constant("six", [], integers: [6])
      return graph.reshape(x, to: graph.add(.pack, inputs: [batch, six], options: .pack(count: 2)))
    },
  ]

  static let mixing: [(sample: Sample, reason: String)] = [
    (
      Sample("REDUCE_MAX") { $0.reduce(.reduceMax, $1, axes: [0], keepsDimensions: true) },
      "REDUCE_MAX, works along the first axis of x"
    ),
    (
      Sample("MEAN of all") { $0.mean($1, axes: [0, 1], keepsDimensions: true) },
      "MEAN, works along the first axis"
    ),
    (
      Sample("RESHAPE to one row") { $0.reshape($1, to: [1, -1]) },
      "RESHAPE, makes y, 1×8, which has no row for each of the 2"
    ),
    (
      Sample("RESHAPE to two rows") { $0.reshape($1, to: [2, -1]) },
      "RESHAPE, makes y, 2×2, which has no row for each of the 1"
    ),
    (Sample("RESHAPE of rows cut in two") { $0.reshape($1, to: [-1, 2]) }, "has no row for each"),
    (Sample("TRANSPOSE") { $0.transpose($1, [1, 0]) }, "TRANSPOSE, works along the first axis"),
    (Sample("SOFTMAX of the batch", row: []) { $0.softmax($1) }, "SOFTMAX, works along the first axis"),
    (
      Sample("CONCATENATION") { $0.concatenation([$1, $1], axis: 0) },
      "CONCATENATION, works along the first axis"
    ),
    (
      Sample("CONCATENATION from the end") { $0.concatenation([$1, $1], axis: -2) },
      "CONCATENATION, works along the first axis"
    ),
    (Sample("GATHER") { $0.gather($1, [0], axis: 0) }, "GATHER, works along the first axis"),
    (
      Sample("REVERSE_V2") { $0.add(.reverseV2, inputs: [$1, $0.constant("a", integers: [0])]) },
      "REVERSE_V2, works along the first axis"
    ),
    (
      Sample("CUMSUM") { $0.add(.cumsum, inputs: [$1, $0.constant("a", [], integers: [-2])]) },
      "CUMSUM, works along the first axis"
    ),
    (
      Sample("TILE") { $0.add(.tile, inputs: [$1, $0.constant("m", integers: [2, 1])]) },
      "TILE, works along the first axis"
    ),
    (
      // Row 1 would begin with the last number of row 0.
      Sample("FULLY_CONNECTED of longer rows", row: [11]) {
        $0.fullyConnected($1, weights: $0.constant("f", [3, 10], floats: floats(30)))
      },
      "FULLY_CONNECTED, cuts x, 1×11, into other rows"
    ),
    (
      Sample("BATCH_MATMUL of rows with rows") { $0.batchMatMul($1, $1, transposesRight: true) },
      "BATCH_MATMUL, works along the first axis"
    ),
    (
      Sample("ADD of a number of each row as if it were one of each column") {
        $0.add($1, $0.mean($1, axes: [1], as: "m"))
      },
      "ADD, repeats m, 1, along the first axis"
    ),
    (
      // The answer of each depends on how many ask.
      Sample("MUL by the batch") { graph, x in
        let batch = graph.element(0, of: graph.shape(x))
        return graph.mul(x, graph.cast(batch, to: .float32))
      },
      "MUL, reads values that depend on the batch"
    ),
    (
      Sample("WHERE") { $0.add(.where, inputs: [$1], as: .init(type: .int64)) },
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
    #expect(
      batching.reason?.contains(reason) ?? false, "\(sample.testDescription): \(batching.reason ?? "joins")")
  }

  @Test("a model that mixes rows only beyond a bound does not join")
  func findsWhatTrialsMiss() throws {
    let model = try Sample("x + relu(max(x) - 2)") { graph, x in
      let largest = graph.reduce(.reduceMax, x, axes: [0, 1])
      let less = graph.add(largest, graph.constant("two", [], floats: [-2]))
      return graph.add(x, graph.relu(less))
    }.model
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
    let model = try Sample("FULLY_CONNECTED", row: [64]) {
      $0.fullyConnected($1, weights: $0.constant("f", [32, 64], floats: Self.floats(32 * 64)))
    }.model
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
    func model(_ side: Int) throws -> Model {
      try Sample("MEAN", row: [side, side, 16]) { $0.mean($1, axes: [1, 2]) }.model
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
