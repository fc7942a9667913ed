// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// Subgraphs that call each other, and state between runs; that answers are right is shown by the goldens.
@Suite struct ControlFlowTests {
  /// A loop that counts up to the limit given, or for ever.
  private static func counting(to limit: Int?) -> TestModel {
    var graph = TestGraph()
    let start = graph.input("start", [], type: .int32)
    let condition = graph.subgraph { graph in
      let count = graph.input("count", [], type: .int32)
      // A condition that is a constant: no operator runs that could look at the flag.
      guard let limit else { return [graph.tensor("true", [], type: .bool, bytes: [1])] }
      return [graph.less(count, graph.constant("limit", [], integers: [limit]))]
    }
    let body = graph.subgraph { graph in
      let count = graph.input("count", [], type: .int32)
      return [limit == nil ? count : graph.add(count, graph.constant("one", [], integers: [1]))]
    }
    let end = graph.while(start, condition: condition, body: body)
    return graph.model(outputs: [end])
  }

  @Test func aLoopEndsWhenItsConditionFails() throws {
    let interpreter = try Interpreter(model: Self.counting(to: 1000).model())
    for (start, end) in [(0, 1000), (999, 1000), (2000, 2000)] as [(Int32, Int32)] {
      try interpreter.copy([start], toInputAt: 0)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0, as: Int32.self) == [end])
    }
  }

  @Test func theOperatorsOfEachSubgraphAreListed() throws {
    let model = try Self.counting(to: 3).model()
    let main = try #require(try model.operators(ofSubgraph: 0).first)
    #expect(main.name == "WHILE" && main.inputs == [model.inputs[0].index] && !main.isCustom)
    #expect(main.outputs == [model.outputs[0].index])
    #expect(try (1...2).map { try model.operators(ofSubgraph: $0).map(\.name) } == [["LESS"], ["ADD"]])
    #expect(throws: ApusError.self) { try model.operators(ofSubgraph: 3) }
  }

  @Test func anEndlessLoopCanBeCancelled() throws {
    let interpreter = try Interpreter(model: Self.counting(to: nil).model())
    let error = #expect(throws: ApusError.self) {
      try Watchdog.limit(seconds: 0.05) { flag throws(ApusError) in try interpreter.invoke(cancellation: flag)
      }
    }
    #expect(error?.code == .cancelled)
  }

  @Test func subgraphsThatCallThemselvesAreRefused() throws {
    var model = Self.counting(to: 5)
    // The body calls the main subgraph's loop again.
    model.children[1].operators[0] = .init(
      code: .while, inputs: [0], outputs: [2], options: .while(condition: 1, body: 2))
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.code == .malformedModel)
  }

  @Test(arguments: [-1, 0, 3, .max] as [Int32])
  func aSubgraphThatIsNotThereOrTheCallerIsRefused(index: Int32) throws {
    var model = Self.counting(to: 5)
    model.operators[0].options.fields[1] = .int(index)
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.code == .malformedModel)
  }

  @Test func subgraphsThatCallEachOtherInManyWaysEndSoon() throws {
    // Each level calls the next one four times, with different shapes in turn.
    func level(_ graph: inout TestGraph, calling target: Int32) -> [TestGraph.Tensor] {
      let condition = graph.input("condition", [], type: .bool)
      let x = graph.input("x", [1])
      let results = (0..<4).map { _ in graph.if(condition, then: target, else: target, condition, x) }
      return [results[3]]
    }
    var graph = TestGraph()
    let outputs = level(&graph, calling: 1)
    for target in 2...24 as ClosedRange<Int32> { graph.subgraph { level(&$0, calling: target) } }
    graph.subgraph { graph in
      _ = graph.input("condition", [], type: .bool)
      return [graph.input("x", [1])]
    }
    let model = graph.model(outputs: outputs)
    let interpreter = try Interpreter(model: model.model())
    #expect(interpreter.outputs[0].shape == [1])
  }

  @Test func argumentsHaveTheTypesOfTheCaller() throws {
    var model = Self.counting(to: 5)
    for child in 0...1 { model.children[child].tensors[0].type = TestModel.float32 }
    let interpreter = try Interpreter(model: model.model())
    try interpreter.copy([1] as [Int32], toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0, as: Int32.self) == [5])
  }

  @Test func aBodyWithAResultOfAnotherTypeIsRefused() throws {
    var model = Self.counting(to: 5)
    model.children[1].operators[0] = .init(
      code: .cast, inputs: model.children[1].operators[0].inputs.dropLast(), outputs: [2])
    model.children[1].tensors[2].type = TestModel.float32
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.code == .malformedModel)
  }

  /// Two cases, one after the other, whose only branch doubles bytes; each is given a scale, as are its results.
  private static func doubling(scales: [Float], sharing: Bool) -> TestModel {
    var graph = TestGraph()
    let index = graph.constant("index", [], integers: [0])
    let outputs = scales.enumerated().map { number, scale in
      if number == 0 || !sharing {
        graph.subgraph { graph in
          let x = graph.input("x", [2], type: .int8, scale: 8)
          return [graph.add(x, x)]
        }
      }
      let x = graph.input("x\(number)", [2], type: .int8, scale: scale)
      return graph.add(
        .stablehloCase, inputs: [index, x], options: .stablehloCase([sharing ? 1 : Int32(number + 1)]),
        as: .init(type: .int8, shape: [2], scale: 2 * scale, zeroPoint: 5))
    }
    return graph.model(outputs: outputs)
  }

  @Test("branches have the quantization of the tensors that they are given, whatever the file says")
  func quantizationOfBranches() throws {
    for sharing in [false, true] {
      let model = Self.doubling(scales: sharing ? [0.5, 0.5] : [0.5, 4], sharing: sharing)
      let interpreter = try Interpreter(model: model.model())
      for input in 0..<2 { try interpreter.copy([-7, 30] as [Int8], toInputAt: input) }
      try interpreter.invoke()
      for output in 0..<2 {
        #expect(try interpreter.output(at: output, as: Int8.self) == [-2, 35])
      }
    }
  }

  @Test func aBranchOfTwoQuantizationsIsRefused() throws {
    let model = Self.doubling(scales: [0.5, 4], sharing: true)
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.code == .malformedModel)
    #expect(error?.message.contains("STABLEHLO_CASE passes") == true)
  }

  @Test func anErrorInASubgraphNamesIt() throws {
    var model = Self.counting(to: 5)
    model.children[1].operators[0].inputs = [0]
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.message.hasPrefix("subgraph 2, operator #0, ADD") == true)
  }

  @Test("a loop's body may call the loop's condition with another shape")
  func conditionIsShared() throws {
    var graph = TestGraph()
    let start = graph.input("x", [4])
    // Whether the sum is below 100.
    let condition = graph.subgraph { graph in
      let sum = graph.reduce(.sum, graph.input("x", [4]), axes: [0])
      return [graph.less(sum, graph.constant("limit", [], floats: [100]))]
    }
    // Adds one to each, after the condition has seen twice as many.
    let body = graph.subgraph { graph in
      let x = graph.input("x", [4])
      let twice = graph.concatenation([x, x], axis: 0)
      let always = graph.tensor("true", [], type: .bool, bytes: [1])
      _ = graph.if(always, then: condition, else: condition, twice, as: .init("ignored", type: .bool))
      return [graph.add(x, graph.constant("ones", [4], floats: [1, 1, 1, 1]))]
    }
    let end = graph.while(start, condition: condition, body: body)
    let model = graph.model(outputs: [end])
    let interpreter = try Interpreter(model: model.model())
    for _ in 0..<2 {
      try interpreter.copy([0, 0, 0, 0] as [Float], toInputAt: 0)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == [25, 25, 25, 25] as [Float])
    }
  }

  @Test("a constant whose shape an input decides is not kept for other shapes")
  func viewsOfConstants() throws {
    var graph = TestGraph()
    let x = graph.input("x", [1, 2], signature: [-1, -1])
    let a = graph.constant("a", [2], floats: [1, 2])
    let b = graph.constant("b", [2], floats: [10, 20])
    let sum = graph.add(graph.reshape(a, to: graph.shape(x)), b)
    let y = graph.add(x, sum)
    let model = graph.model(outputs: [y])
    let interpreter = try Interpreter(model: model.model())
    for (shape, expected) in [
      ([1, 2], [11, 22]), ([2, 1], [11, 21, 12, 22]), ([1, 2], [11, 22]),
    ] as [(TensorShape, [Float])] {
      try interpreter.resizeInput(at: 0, to: shape)
      try interpreter.copy([0, 0] as [Float], toInputAt: 0)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == expected)
    }
  }

  /// An IF that calls a subgraph, whose own IF gives four elements or eight; and an input that has nothing to do with it.
  private static var nested: TestModel {
    var graph = TestGraph()
    let doubles = graph.input("doubles", [], type: .bool)
    let x = graph.input("x", [4])
    let other = graph.input("other", [1])
    let doubled = graph.subgraph { graph in
      let x = graph.input("x", [4])
      return [graph.concatenation([x, x], axis: 0)]
    }
    let same = graph.subgraph { graph in [graph.relu(graph.input("x", [4]))] }
    let inner = graph.subgraph { graph in
      let doubles = graph.input("doubles", [], type: .bool)
      return [graph.if(doubles, then: doubled, else: same, graph.input("x", [4]))]
    }
    let y = graph.if(doubles, then: inner, else: inner, doubles, x)
    let z = graph.relu(other)
    return graph.model(outputs: [y, z])
  }

  @Test(
    "the shape that data gave a branch's result in one run is not that of the next, after another input was resized"
  )
  func shapesOfBranchesAreForgotten() throws {
    let interpreter = try Interpreter(model: Self.nested.model())
    for (place, doubles) in [true, false, true, true, false].enumerated() {
      try interpreter.resizeInput(at: 2, to: [place + 1])
      try interpreter.copy([doubles], toInputAt: 0)
      try interpreter.copy([1, 2, 3, 4] as [Float], toInputAt: 1)
      try interpreter.invoke()
      #expect(
        try interpreter.output(at: 0) == (doubles ? [1, 2, 3, 4, 1, 2, 3, 4] : [1, 2, 3, 4]) as [Float])
      #expect(interpreter.outputs[0].shape == [doubles ? 8 : 4])
    }
  }

  @Test("a branch that does not take an input's shape is an error only if it runs")
  func branchesThatDoNotRunTakeAnyShape() throws {
    var graph = TestGraph()
    let isSquare = graph.input("isSquare", [], type: .bool)
    let x = graph.input("x", [4])
    let square = graph.subgraph { graph in [graph.reshape(graph.input("x", [4]), to: [2, 2])] }
    let same = graph.subgraph { graph in [graph.relu(graph.input("x", [4]))] }
    let y = graph.if(isSquare, then: square, else: same, x)
    let model = graph.model(outputs: [y])
    let interpreter = try Interpreter(model: model.model())
    func run(_ isSquare: Bool, _ values: [Float]) throws -> TensorShape {
      try interpreter.resizeInput(at: 1, to: [values.count])
      try interpreter.copy([isSquare], toInputAt: 0)
      try interpreter.copy(values, toInputAt: 1)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == values)
      return interpreter.outputs[0].shape
    }
    #expect(try run(true, [1, 2, 3, 4]) == [2, 2])
    #expect(try run(false, [1, 2, 3, 4, 5]) == [5])
    let error = #expect(throws: ApusError.self) { try run(true, [1, 2, 3, 4, 5]) }
    #expect(error?.message.contains("RESHAPE") == true)
    #expect(try run(true, [1, 2, 3, 4]) == [2, 2])
  }
}
