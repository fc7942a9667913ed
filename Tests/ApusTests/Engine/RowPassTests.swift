// SPDX-License-Identifier: Apache-2.0
import Apus
import TestSupport
import Testing

/// Normalization of rows or columns takes few steps, which answer the same as one step for each operator.
@Suite struct RowPassTests {

  private static func floats(_ count: Int, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in .random(in: -1...1, using: &random) }
  }

  /// Means and variances along axes, and what they make of each element. `reads` names what the model gives beside its result.
  private static func normalization(_ shape: [Int], axes: [Int], reads: [String] = []) throws -> Model {
    let channels = shape[shape.count - 1]
    var graph = TestGraph()
    let x = graph.input("x", shape)
    let epsilon = graph.constant("small", [], floats: [0.001])
    let gamma = graph.constant("gamma", [channels], floats: floats(channels, seed: 1))
    let beta = graph.constant("beta", [channels], floats: floats(channels, seed: 2))
    let mean = graph.mean(x, axes: axes, keepsDimensions: true, as: "mean")
    let squares = graph.add(.squaredDifference, inputs: [x, mean], as: "squares")
    let variance = graph.mean(squares, axes: axes, keepsDimensions: true, as: "variance")
    let inverse = graph.add(.rsqrt, inputs: [graph.add(variance, epsilon)])
    let scaled = graph.mul(graph.sub(x, mean), inverse, as: "scaled")
    let y = graph.add(graph.mul(scaled, gamma), beta)
    let read = [mean, squares, variance, scaled].filter { reads.contains(graph[$0].name) }
    return try graph.model(outputs: [y] + read).model()
  }

  private func steps(_ model: Model, _ passes: Passes, kernels: KernelSetName?, threads: Int = 1) throws -> (
    names: [String], outputs: [[Float]]
  ) {
    var options = Interpreter.Options()
    options.kernels = kernels
    options.passes = passes
    options.threadCount = threads
    let interpreter = try Interpreter(model: model, options: options)
    try interpreter.copy(Self.floats(interpreter.inputs[0].shape.elementCount, seed: 3), toInputAt: 0)
    try interpreter.invoke()
    return (
      interpreter.plan.steps.map(\.name),
      try interpreter.outputs.indices.map { try interpreter.output(at: $0) }
    )
  }

  @Test(
    "a layer's normalization is one step",
    arguments: [[1, 9, 64], [2, 3, 5, 48], [1, 300], [1, 2, 1000]])
  func layers(shape: [Int]) throws {
    let model = try Self.normalization(shape, axes: [shape.count - 1])
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

  @Test("what the caller reads stays a step", arguments: ["mean", "squares", "variance", "scaled"])
  func outputs(tensor: String) throws {
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
