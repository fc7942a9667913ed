// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// The rules for graphs, and the handling of shapes that data decides.
@Suite struct GraphTests {
  private func error(_ change: (inout TestModel) -> Void) -> ApusError? {
    var description = TestModel.chain()
    change(&description)
    return #expect(throws: ApusError.self) { try Interpreter(model: description.model()) }
  }

  @Test("a tensor is written once")
  func writtenTwice() {
    let error = error {
      $0.operators[1].outputs = [1]
      $0.operators[2].inputs = [1]
    }
    #expect(error?.code == .malformedModel)
    #expect(error?.message.contains("writes") == true)
  }

  @Test("an operator writes no input, no constant and nothing that it reads")
  func writesWhatItMayNot() {
    #expect(error { $0.operators[1].outputs = [0] }?.code == .malformedModel)
    #expect(error { $0.operators[1].outputs = [1] }?.code == .malformedModel)
    let constant = error {
      $0.tensors.append(.init(name: "c", shape: [1, 4], data: TestModel.bytes([1, 2, 3, 4])))
      $0.operators[1].outputs = [4]
    }
    #expect(constant?.code == .malformedModel)
    #expect(constant?.message.contains("writes c") == true)
  }

  @Test("a tensor is written before it is read")
  func readBeforeWritten() {
    let late = error { $0.operators[0].inputs = [2] }
    #expect(late?.code == .malformedModel)
    #expect(late?.message == "operator #0, RELU: reads b, which nothing before it writes")
    let never = error {
      $0.tensors.append(.init(name: "c", shape: [1, 4]))
      $0.operators[0].inputs = [4]
    }
    #expect(never?.message == "operator #0, RELU: reads c, which nothing before it writes")
  }

  @Test("an output is written by something")
  func unwrittenOutput() {
    let error = error {
      $0.tensors.append(.init(name: "c", shape: [1, 4]))
      $0.outputs = [4]
    }
    #expect(error?.code == .malformedModel)
    #expect(error?.message == "subgraph 0: nothing writes the output c")
  }

  @Test("an operator that is missing, or of another version or type, is named before anything is prepared")
  func unsupported() throws {
    var description = TestModel.chain()
    description.operators[1].number = 51  // DELEGATE, which no file may hold
    let model = try description.model()
    #expect(model.unsupportedOperators.count == 1)
    #expect(model.unsupportedOperators.first?.hasPrefix("operator #1, ") == true)
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model) }
    #expect(error?.code == .unsupportedOperator)
    #expect(error?.reasons == model.unsupportedOperators)
  }

  @Test("an output may be an input, or a constant")
  func passesThrough() throws {
    var description = TestModel.chain()
    description.tensors.append(.init(name: "c", shape: [2], data: TestModel.bytes([7, 8])))
    description.outputs = [0, 4, 3, 3]
    description.signature = nil
    let interpreter = try Interpreter(model: description.model())
    try interpreter.copy([1, 2, 3, 4] as [Float], toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [1, 2, 3, 4] as [Float])
    #expect(try interpreter.output(at: 1) == [7, 8] as [Float])
    #expect(try interpreter.output(at: 2) == interpreter.output(at: 3, as: Float.self))
  }

  @Test("operators on constants run once, at preparation")
  func folds() throws {
    var graph = TestGraph()
    let x = graph.input("x", [4])
    let c = graph.constant("c", [4], floats: [-1, 2, -3, 4])
    let sum = graph.add(graph.relu(c), c)
    let y = graph.add(sum, x)
    let model = try graph.model(outputs: [y, sum]).model()
    var options = Interpreter.Options()
    options.profiles = true
    for _ in 0..<2 {
      let interpreter = try Interpreter(model: model, options: options)
      try interpreter.copy([1, 1, 1, 1] as [Float], toInputAt: 0)
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == [0, 5, -2, 9] as [Float])
      #expect(try interpreter.output(at: 1) == [-1, 4, -3, 8] as [Float])
      #expect(interpreter.profile.map(\.operatorIndex) == [2])
    }
  }

  @Test("results of constants count towards the limit on memory")
  func foldingIsLimited() throws {
    // Each step adds a row and a column, and so has a thousand times as many elements.
    var graph = TestGraph()
    _ = graph.input("x", [1])
    let ones = [Float](repeating: 1, count: 1000)
    let row = graph.constant("row", [1, 1000], floats: ones)
    let column = graph.constant("column", [1000, 1], floats: ones)
    let sums = (0..<10).map { _ in graph.add(row, column) }
    let description = graph.model(outputs: sums)
    var options = Interpreter.Options()
    options.memoryLimit = 12_000_000
    let error = #expect(throws: ApusError.self) {
      try Interpreter(model: description.model(), options: options)
    }
    #expect(error?.code == .resourceLimit)
    options.memoryLimit = 60_000_000
    _ = try Interpreter(model: description.model(), options: options)
  }

  @Test("where data decides a shape, the rest is planned again when it changes", arguments: [false, true])
  func dynamicShapes(preservesAllTensors: Bool) throws {
    var options = Interpreter.Options()
    options.preservesAllTensors = preservesAllTensors
    options.profiles = true
    let interpreter = try Interpreter(model: TestModel.dynamic.model(), options: options)
    let values: [Float] = [-1, 2, -3, 4, -5, 6]
    func run(_ shape: [Int32]) throws -> [Float] {
      try interpreter.copy(values, toInputAt: 0)
      try interpreter.copy(shape, toInputAt: 1)
      try interpreter.invoke()
      return try interpreter.output(at: 0)
    }
    let answer: [Float] = [-1, 4, -3, 8, -5, 12]
    for shape in [[3, 2], [3, 2], [6, 1], [-1, 3], [2, 3]] as [[Int32]] {
      #expect(try run(shape) == answer)
      let expected = shape.map { $0 < 0 ? 2 : Int($0) }
      #expect(interpreter.outputs[0].shape == TensorShape(expected))
    }
    let error = #expect(throws: ApusError.self) { try run([5, 2]) }
    #expect(error?.message.hasPrefix("operator #0, RESHAPE") == true)
    #expect(throws: ApusError.self) { try run([5, 2]) }
    #expect(try run([1, 6]) == answer)
    try interpreter.resizeInput(at: 0, to: [2, 2])
    try interpreter.copy([1, -1, 2, -2] as [Float], toInputAt: 0)
    try interpreter.copy([4, 1] as [Int32], toInputAt: 1)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [2, -1, 4, -2] as [Float])
    #expect(interpreter.outputs[0].shape == [4, 1])
  }

  @Test("a plan of a changed shape gives back the memory of the one before")
  func dynamicMemory() throws {
    let interpreter = try Interpreter(model: TestModel.dynamic.model())
    try interpreter.resizeInput(at: 0, to: [1, 720])
    var sizes: Set<Int> = []
    for rows in [1, 2, 3, 4, 5, 6, 8, 9, 10, 12] as [Int32] {
      try interpreter.copy([rows, -1], toInputAt: 1)
      try interpreter.invoke()
      sizes.insert(interpreter.memoryPlan.arenaByteCount)
    }
    #expect(sizes.count == 1)
  }
}
