// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// Reads of a variable see its value at that moment, whatever passes do to operators around; expected values
/// are computed by hand.
@Suite struct VariablePassTests {
  /// The first output after each of some runs, whose inputs are given.
  private func answers(_ model: TestModel, _ inputs: [[Float]]) throws -> [[Float]] {
    let interpreter = try Interpreter(model: model.model())
    return try inputs.map { input in
      try interpreter.copy(input, toInputAt: 0)
      try interpreter.invoke()
      return try interpreter.output(at: 0)
    }
  }

  @Test("a function of a variable that is written later reads the value of the run before")
  func functionOfVariable() throws {
    var graph = TestGraph()
    let x = graph.input("x", [2])
    let one = graph.constant("one", [2], floats: [1, 1])
    let state = graph.variable("state", [2])
    let y = graph.relu(state)
    graph.add(.add, inputs: [x, one], into: [state])
    let model = graph.model(outputs: [y])
    #expect(try answers(model, [[1, -3], [5, 5], [0, 0]]) == [[0, 0], [2, 0], [6, 6]])
  }

  @Test("a function whose result is a variable does not replace it early")
  func functionIntoVariable() throws {
    var graph = TestGraph()
    let x = graph.input("x", [2])
    let one = graph.constant("one", [2], floats: [1, 1])
    let state = graph.variable("state", [2])
    let sum = graph.add(x, one)
    let y = graph.mul(state, x)
    graph.add(.relu, inputs: [sum], into: [state])
    let model = graph.model(outputs: [y])
    #expect(try answers(model, [[1, -3], [5, 5], [2, 1]]) == [[0, 0], [10, 0], [12, 6]])
  }

  @Test("a factor that is a variable is not computed anew")
  func gateOfVariable() throws {
    var graph = TestGraph()
    let x = graph.input("x", [2])
    let state = graph.variable("state", [2])
    let y = graph.mul(x, state)
    graph.add(.logistic, inputs: [x], into: [state])
    let model = graph.model(outputs: [y])
    #expect(try answers(model, [[0, 0], [8, 4], [0, 0]]) == [[0, 0], [4, 2], [0, 0]])
  }

  /// Sums of 3 × 3 pixels.
  private static func convolve(_ x: TestGraph.Tensor, in graph: inout TestGraph) -> TestGraph.Tensor {
    let ones = graph.constant("filter", [1, 3, 3, 1], floats: Array(repeating: 1, count: 9))
    return graph.conv2D(x, filter: ones, bias: graph.constant("bias", [1], floats: [0]), padding: .valid)
  }

  /// Zeros around a picture of 2 × 2 pixels.
  private static let amounts = [[0, 0], [1, 1], [1, 1], [0, 0]]

  @Test("a convolution of a variable that is padded later reads the picture of the run before")
  func convolutionOfVariable() throws {
    var graph = TestGraph()
    let x = graph.input("x", [1, 2, 2, 1])
    let large = graph.variable("large", [1, 4, 4, 1])
    let y = Self.convolve(large, in: &graph)
    let amounts = graph.constant("amounts", [4, 2], integers: Self.amounts.flatMap { $0 })
    graph.add(.pad, inputs: [x, amounts], into: [large])
    let model = graph.model(outputs: [y])
    #expect(
      try answers(model, [[1, 2, 3, 4], [0, 0, 0, 1], [0, 0, 0, 0]]) == [
        [0, 0, 0, 0], [10, 10, 10, 10], [1, 1, 1, 1],
      ])
  }

  @Test("a variable is padded and convolved, then replaced")
  func paddedVariable() throws {
    var graph = TestGraph()
    let x = graph.input("x", [1, 2, 2, 1])
    let small = graph.variable("small", [1, 2, 2, 1])
    let zero = graph.constant("zero", [1], floats: [0])
    let y = Self.convolve(graph.pad(small, Self.amounts), in: &graph)
    graph.add(.add, inputs: [x, zero], into: [small])
    let model = graph.model(outputs: [y])
    #expect(
      try answers(model, [[1, 2, 3, 4], [0, 0, 0, 1], [0, 0, 0, 0]]) == [
        [0, 0, 0, 0], [10, 10, 10, 10], [1, 1, 1, 1],
      ])
  }
}
