// SPDX-License-Identifier: Apache-2.0
import Apus
import TestSupport
import Testing

/// What normalizes the rows or the columns of a tensor is few steps, which answer the same as one step for each operator.
@Suite struct RowPassTests {

  private static func floats(_ count: Int32, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in .random(in: -1...1, using: &random) }
  }

  /// Means and variances along axes, and what they make of each element. `reads` says what the model gives beside its result.
  private static func normalization(_ shape: [Int32], axes: [Int32], reads: [Int32] = []) throws -> Model {
    let narrow = shape.indices.map { axes.contains(Int32($0)) ? 1 : shape[$0] }
    let channels = shape[shape.count - 1]
    return try TestModel(
      tensors: [
        .init(name: "x", shape: shape),
        .init(
          name: "axes", type: TestModel.int32, shape: [Int32(axes.count)],
          data: axes.flatMap { [UInt8($0), 0, 0, 0] }),
        .init(name: "mean", shape: narrow), .init(name: "squares", shape: shape),
        .init(name: "variance", shape: narrow),
        .init(name: "small", shape: [], data: TestModel.bytes([0.001])),
        .init(name: "more", shape: narrow), .init(name: "inverse", shape: narrow),
        .init(name: "centered", shape: shape), .init(name: "scaled", shape: shape),
        .init(name: "gamma", shape: [channels], data: TestModel.bytes(floats(channels, seed: 1))),
        .init(name: "product", shape: shape),
        .init(name: "beta", shape: [channels], data: TestModel.bytes(floats(channels, seed: 2))),
        .init(name: "y", shape: shape),
      ],
      operators: [
        .init(code: .mean, inputs: [0, 1], outputs: [2], options: .reducer(keepsDimensions: true)),
        .init(code: .squaredDifference, inputs: [0, 2], outputs: [3]),
        .init(code: .mean, inputs: [3, 1], outputs: [4], options: .reducer(keepsDimensions: true)),
        .init(code: .add, inputs: [4, 5], outputs: [6]),
        .init(code: .rsqrt, inputs: [6], outputs: [7]),
        .init(code: .sub, inputs: [0, 2], outputs: [8]),
        .init(code: .mul, inputs: [8, 7], outputs: [9]),
        .init(code: .mul, inputs: [9, 10], outputs: [11]),
        .init(code: .add, inputs: [11, 12], outputs: [13]),
      ],
      inputs: [0], outputs: [13] + reads
    ).model()
  }

  private func steps(_ model: Model, _ passes: Passes, kernels: KernelSetName?, threads: Int = 1) throws -> (
    names: [String], outputs: [[Float]]
  ) {
    var options = Interpreter.Options()
    options.kernels = kernels
    options.passes = passes
    options.threadCount = threads
    let interpreter = try Interpreter(model: model, options: options)
    let count = Int32(interpreter.inputs[0].shape.elementCount)
    try interpreter.copy(Self.floats(count, seed: 3), toInputAt: 0)
    try interpreter.invoke()
    return (
      interpreter.plan.steps.map(\.name),
      try interpreter.outputs.indices.map { try interpreter.output(at: $0) }
    )
  }

  @Test(
    "a layer's normalization is one step",
    arguments: [[1, 9, 64], [2, 3, 5, 48], [1, 300], [1, 2, 1000]] as [[Int32]])
  func layers(shape: [Int32]) throws {
    let model = try Self.normalization(shape, axes: [Int32(shape.count - 1)])
    for kernels in Runtime.kernelSets where kernels.isSupported {
      let expected = try steps(model, .none, kernels: kernels.name)
      #expect(expected.names.count == 9)
      for threads in [1, 2] {
        let found = try steps(model, .all, kernels: kernels.name, threads: threads)
        #expect(found.names.count == 1, "\(found.names)")
        #expect(found.outputs == expected.outputs, "\(kernels.name)")
      }
    }
  }

  @Test("what the caller reads stays a step", arguments: [2, 3, 4, 9] as [Int32])
  func outputs(tensor: Int32) throws {
    let model = try Self.normalization([1, 9, 64], axes: [2], reads: [tensor])
    let expected = try steps(model, .none, kernels: nil)
    let found = try steps(model, .all, kernels: nil)
    #expect(found.names.count > 1 && found.names.count < 9, "\(found.names)")
    #expect(found.outputs == expected.outputs)
  }

  @Test("the variances of columns are summed as their terms are computed")
  func columns() throws {
    let model = try Self.normalization([1, 70, 50, 24], axes: [1, 2])
    for kernels in Runtime.kernelSets where kernels.isSupported {
      let expected = try steps(model, .none, kernels: kernels.name)
      for threads in [1, 2] {
        let found = try steps(model, .all, kernels: kernels.name, threads: threads)
        #expect(found.names.contains("MEAN + SQUARED_DIFFERENCE"), "\(found.names)")
        #expect(found.outputs == expected.outputs, "\(kernels.name)")
      }
    }
  }
}
