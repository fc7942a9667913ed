// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// A graph that is built by name is the model that its lines describe; expected values are computed by hand.
@Suite struct TestGraphTests {
  private func run(_ model: TestModel, _ input: [Float]) throws -> Interpreter {
    let interpreter = try Interpreter(model: model.model())
    try interpreter.copy(input, toInputAt: 0)
    try interpreter.invoke()
    return interpreter
  }

  @Test("strides, padding and activations are those of each convolution")
  func convolutions() throws {
    var graph = TestGraph()
    let x = graph.input("x", [1, 3, 3, 1])
    let ones = graph.constant("ones", [1, 3, 3, 1], floats: Array(repeating: 1, count: 9))
    let same = graph.conv2D(x, filter: ones, stride: 2, activation: .relu6)
    let valid = graph.depthwiseConv2D(
      x, filter: ones, bias: graph.constant("bias", [1], floats: [-100]), padding: .valid,
      activation: .reluN1To1)
    let model = graph.model(outputs: [same, valid])
    let interpreter = try run(model, [1, 0, 0, 0, 1, 0, 0, 0, -9])
    #expect(interpreter.outputs.map(\.shape) == [[1, 2, 2, 1], [1, 1, 1, 1]])
    #expect(try interpreter.output(at: 0) == [2, 1, 1, 0] as [Float])
    #expect(try interpreter.output(at: 1) == [-1] as [Float])
  }

  @Test("results are like their operands, unless they say otherwise")
  func results() throws {
    var graph = TestGraph()
    let x = graph.input("x", [1, 4])
    let halves = graph.split(x, axis: 1, count: 2)
    let bytes = graph.quantize(halves[1], as: .init("bytes", type: .int8, scale: 0.5, zeroPoint: 1))
    let moved = graph.transpose(bytes, [1, 0])
    let model = graph.model(outputs: [halves[0], moved])
    #expect(model.tensors[Int(moved.index)].scale == 0.5 && model.tensors[Int(moved.index)].zeroPoint == 1)
    let interpreter = try run(model, [1, 2, 3, 4])
    #expect(try interpreter.output(at: 0) == [1, 2] as [Float])
    #expect(interpreter.outputs[1].shape == [2, 1])
    #expect(try interpreter.output(at: 1) == [7, 9] as [Int8])
  }

  @Test("a resource variable is assigned and read")
  func variables() throws {
    var graph = TestGraph()
    let x = graph.input("x", [2])
    let state = graph.varHandle("state")
    graph.assignVariable(state, x)
    let y = graph.sub(graph.readVariable(state), graph.constant("one", [], floats: [1]))
    #expect(try run(graph.model(outputs: [y]), [5, 7]).output(at: 0) == [4, 6] as [Float])
  }
}
