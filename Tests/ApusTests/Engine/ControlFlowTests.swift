// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// Subgraphs that call each other, and state between runs; that answers are right is shown by the goldens.
@Suite struct ControlFlowTests {
  private static let int32 = TestModel.int32

  /// A loop that counts up to the limit given, or for ever.
  private static func counting(to limit: Int32?) -> TestModel {
    var bytes = [UInt8](repeating: 0, count: 4)
    withUnsafeBytes(of: (limit ?? .max).littleEndian) { bytes = Array($0) }
    var condition = TestModel(
      tensors: [
        .init(name: "count", type: int32, shape: []),
        .init(name: "limit", type: int32, shape: [], data: bytes),
        .init(name: "goes on", type: TestModel.bool, shape: []),
      ],
      operators: [.init(code: .less, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
    if limit == nil {
      // A condition that is a constant: no operator runs that could look at the flag.
      condition = TestModel(
        tensors: [
          .init(name: "count", type: int32, shape: []),
          .init(name: "true", type: TestModel.bool, shape: [], data: [1]),
        ], operators: [], inputs: [0], outputs: [1])
    }
    let body = TestModel(
      tensors: [
        .init(name: "count", type: int32, shape: []),
        .init(name: "one", type: int32, shape: [], data: [1, 0, 0, 0]),
        .init(name: "next", type: int32, shape: []),
      ],
      operators: limit == nil ? [] : [.init(code: .add, inputs: [0, 1], outputs: [2])], inputs: [0],
      outputs: [limit == nil ? 0 : 2])
    return TestModel(
      tensors: [.init(name: "start", type: int32, shape: []), .init(name: "end", type: int32, shape: [])],
      operators: [
        .init(code: .while, inputs: [0], outputs: [1], options: .while(condition: 1, body: 2))
      ],
      inputs: [0], outputs: [1], children: [condition, body])
  }

  @Test func aLoopEndsWhenItsConditionFails() throws {
    let interpreter = try Interpreter(model: Self.counting(to: 1000).model())
    for (start, end) in [(0, 1000), (999, 1000), (2000, 2000)] as [(Int32, Int32)] {
      try interpreter.copy([start], toInputAt: 0)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0, as: Int32.self) == [end])
    }
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
    let levels = 24
    func level(_ index: Int) -> TestModel {
      let tensors: [TestModel.TensorSpec] =
        [.init(name: "condition", type: TestModel.bool, shape: []), .init(name: "x", shape: [1])]
        + (0..<4).map { .init(name: "y\($0)", shape: [1]) }
      guard index < levels else {
        return TestModel(tensors: tensors, operators: [], inputs: [0, 1], outputs: [1])
      }
      let target = Int32(index + 1)
      return TestModel(
        tensors: tensors,
        operators: (0..<4).map {
          .init(
            code: .if, inputs: $0 % 2 == 0 ? [0, 0, 1] : [0, 0, 1],
            outputs: [Int32($0) + 2],
            options: .if(then: target, else: target))
        }, inputs: [0, 1], outputs: [5])
    }
    var model = level(0)
    model.children = (1...levels).map(level)
    let interpreter = try Interpreter(model: model.model())
    #expect(interpreter.outputs[0].shape == [1])
  }

  @Test func aCalledSubgraphOfOtherTypesIsRefused() throws {
    var model = Self.counting(to: 5)
    model.children[1].tensors[0].type = TestModel.float32
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.code == .malformedModel)
  }

  @Test func anErrorInASubgraphNamesIt() throws {
    var model = Self.counting(to: 5)
    model.children[1].operators[0].inputs = [0]
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.message.hasPrefix("subgraph 2, operator #0, ADD") == true)
  }

  @Test("a loop's body may call the loop's condition with another shape")
  func conditionIsShared() throws {
    let floats = TestModel.bytes
    let zero: [UInt8] = [0, 0, 0, 0]
    // Whether the sum is below 100.
    let condition = TestModel(
      tensors: [
        .init(name: "x", shape: [4]), .init(name: "axis", type: Self.int32, shape: [1], data: zero),
        .init(name: "sum", shape: []), .init(name: "limit", shape: [], data: floats([100])),
        .init(name: "goes on", type: TestModel.bool, shape: []),
      ],
      operators: [
        .init(code: .sum, inputs: [0, 1], outputs: [2]),
        .init(code: .less, inputs: [2, 3], outputs: [4]),
      ], inputs: [0], outputs: [4])
    // Adds one to each, after the condition has seen twice as many.
    let body = TestModel(
      tensors: [
        .init(name: "x", shape: [4]), .init(name: "twice", shape: [8]),
        .init(name: "true", type: TestModel.bool, shape: [], data: [1]),
        .init(name: "ignored", type: TestModel.bool, shape: []),
        .init(name: "ones", shape: [4], data: floats([1, 1, 1, 1])), .init(name: "y", shape: [4]),
      ],
      operators: [
        .init(code: .concatenation, inputs: [0, 0], outputs: [1]),
        .init(
          code: .if, inputs: [2, 1], outputs: [3], options: .if(then: 1, else: 1)),
        .init(code: .add, inputs: [0, 4], outputs: [5]),
      ], inputs: [0], outputs: [5])
    let model = TestModel(
      tensors: [.init(name: "x", shape: [4]), .init(name: "y", shape: [4])],
      operators: [
        .init(code: .while, inputs: [0], outputs: [1], options: .while(condition: 1, body: 2))
      ], inputs: [0], outputs: [1], children: [condition, body])
    let interpreter = try Interpreter(model: model.model())
    for _ in 0..<2 {
      try interpreter.copy([0, 0, 0, 0] as [Float], toInputAt: 0)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == [25, 25, 25, 25] as [Float])
    }
  }

  @Test("a constant whose shape an input decides is not kept for other shapes")
  func viewsOfConstants() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 2], signature: [-1, -1]),
        .init(name: "shape", type: Self.int32, shape: [2]),
        .init(name: "a", shape: [2], data: TestModel.bytes([1, 2])),
        .init(name: "view", shape: [1, 2]), .init(name: "b", shape: [2], data: TestModel.bytes([10, 20])),
        .init(name: "sum", shape: [1, 2]), .init(name: "y", shape: [1, 2]),
      ],
      operators: [
        .init(code: .shape, inputs: [0], outputs: [1], options: .resultType(TestModel.int32)),
        .init(code: .reshape, inputs: [2, 1], outputs: [3]),
        .init(code: .add, inputs: [3, 4], outputs: [5]),
        .init(code: .add, inputs: [0, 5], outputs: [6]),
      ], inputs: [0], outputs: [6])
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
  private static let nested: TestModel = {
    let inner = TestModel(
      tensors: [
        .init(name: "doubles", type: TestModel.bool, shape: []), .init(name: "x", shape: [4]),
        .init(name: "y", shape: [4]),
      ],
      operators: [
        .init(code: .if, inputs: [0, 1], outputs: [2], options: .if(then: 2, else: 3))
      ], inputs: [0, 1], outputs: [2])
    let doubled = TestModel(
      tensors: [.init(name: "x", shape: [4]), .init(name: "y", shape: [8])],
      operators: [.init(code: .concatenation, inputs: [0, 0], outputs: [1])], inputs: [0],
      outputs: [1])
    let same = TestModel(
      tensors: [.init(name: "x", shape: [4]), .init(name: "y", shape: [4])],
      operators: [.init(code: .relu, inputs: [0], outputs: [1])], inputs: [0], outputs: [1])
    return TestModel(
      tensors: [
        .init(name: "doubles", type: TestModel.bool, shape: []), .init(name: "x", shape: [4]),
        .init(name: "other", shape: [1]), .init(name: "y", shape: [4]), .init(name: "z", shape: [1]),
      ],
      operators: [
        .init(
          code: .if, inputs: [0, 0, 1], outputs: [3], options: .if(then: 1, else: 1)),
        .init(code: .relu, inputs: [2], outputs: [4]),
      ], inputs: [0, 1, 2], outputs: [3, 4], children: [inner, doubled, same])
  }()

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
    let square = TestModel(
      tensors: [
        .init(name: "x", shape: [4]),
        .init(name: "shape", type: Self.int32, shape: [2], data: [2, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "y", shape: [2, 2]),
      ],
      operators: [.init(code: .reshape, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
    let same = TestModel(
      tensors: [.init(name: "x", shape: [4]), .init(name: "y", shape: [4])],
      operators: [.init(code: .relu, inputs: [0], outputs: [1])], inputs: [0], outputs: [1])
    let model = TestModel(
      tensors: [
        .init(name: "isSquare", type: TestModel.bool, shape: []), .init(name: "x", shape: [4]),
        .init(name: "y", shape: [4]),
      ],
      operators: [
        .init(code: .if, inputs: [0, 1], outputs: [2], options: .if(then: 1, else: 2))
      ], inputs: [0, 1], outputs: [2], children: [square, same])
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
