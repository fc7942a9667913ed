// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Testing

/// Random numbers go on from run to run, and begin again on request, and where the reference prepares their operator anew; that they are
/// right is shown by the goldens.
@Suite struct RandomNumberTests {
  @Test(arguments: ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"])
  func goOnUntilReset(name: String) throws {
    let contents = try GoldenArchive(name: name).open()
    // One with many numbers, so that two runs are not equal by chance.
    let sizes = try contents.cases.map { try contents.arrays("output", of: $0)[0].bytes.count }
    let largest = try #require(sizes.indices.max { sizes[$0] < sizes[$1] })
    let interpreter = try Interpreter(model: contents.model(of: contents.cases[largest]))
    func run() throws -> [UInt8] {
      try interpreter.invoke()
      return try interpreter.bytes(ofOutputAt: 0)
    }
    let first = try run()
    let second = try run()
    #expect(first != second)
    interpreter.resetVariables()
    #expect(try run() == first)
    #expect(try run() == second)
  }

  private static let names: [OperatorCode] = [.randomUniform, .randomStandardNormal, .multinomial]

  /// Adds an operator that draws five numbers.
  private static func draw(
    _ code: OperatorCode, seed: Int64 = 7, in graph: inout TestGraph
  ) -> TestGraph.Tensor {
    let options = TestOptions.random(seed: seed, seed2: seed)
    guard code == .multinomial else {
      let shape = graph.constant("shape", integers: [5])
      return graph.add(code, inputs: [shape], options: options, as: .init("numbers", type: .float32))
    }
    let logits = graph.constant("logits", [1, 4], floats: [0, 0.5, 1, 0.25])
    let count = graph.constant("count", [], integers: [5])
    return graph.add(code, inputs: [logits, count], options: options, as: .init("numbers", type: .int32))
  }

  @Test("another shape of any input begins the numbers anew", arguments: names)
  func beginAgainWithAnotherShape(code: OperatorCode) throws {
    var graph = TestGraph()
    let y = graph.relu(graph.input("x", [2]))
    let numbers = Self.draw(code, in: &graph)
    let interpreter = try Interpreter(model: graph.model(outputs: [y, numbers]).model())
    func run(_ size: Int) throws -> [UInt8] {
      try interpreter.resizeInput(at: 0, to: [size])
      try interpreter.invoke()
      return try interpreter.bytes(ofOutputAt: 1)
    }
    let (first, second) = (try run(2), try run(2))
    #expect(first != second)
    #expect(try [run(3), run(3), run(2)] == [first, second, first])
  }

  @Test("a refused shape leaves the numbers as they are")
  func goOnAfterARefusedShape() throws {
    var graph = TestGraph()
    let y = graph.reshape(graph.input("x", [2]), to: [2, 1])
    let numbers = Self.draw(.randomUniform, in: &graph)
    let interpreter = try Interpreter(model: graph.model(outputs: [y, numbers]).model())
    func run() throws -> [UInt8] {
      try interpreter.invoke()
      return try interpreter.bytes(ofOutputAt: 1)
    }
    let (first, second) = (try run(), try run())
    interpreter.resetVariables()
    #expect(try run() == first)
    #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [3]) }
    #expect(try run() == second)
  }

  @Test("arbitrary seeds give other numbers with another shape")
  func arbitrarySeedsGoOn() throws {
    var graph = TestGraph()
    let y = graph.relu(graph.input("x", [2]))
    let numbers = Self.draw(.randomUniform, seed: 0, in: &graph)
    let interpreter = try Interpreter(model: graph.model(outputs: [y, numbers]).model())
    try interpreter.invoke()
    let first = try interpreter.bytes(ofOutputAt: 1)
    try interpreter.resizeInput(at: 0, to: [3])
    try interpreter.invoke()
    #expect(try interpreter.bytes(ofOutputAt: 1) != first)
  }

  /// The reference prepares again what follows a result whose shape has changed.
  @Test("a result of another shape begins the numbers behind it anew", arguments: names, [true, false])
  func beginAgainBehindAResizedResult(code: OperatorCode, isBehind: Bool) throws {
    var graph = TestGraph()
    let (x, begin) = (graph.input("x", [4]), graph.input("begin", [1], type: .int32))
    var numbers: TestGraph.Tensor?
    if !isBehind { numbers = Self.draw(code, in: &graph) }
    let places = graph.add(.where, inputs: [x], as: .init("places", type: .int64))
    // Other values are another plan, but no other shape.
    let size = graph.constant("size", integers: [1])
    let part = graph.add(.slice, inputs: [x, graph.add(.neg, inputs: [begin]), size])
    let drawn = numbers ?? Self.draw(code, in: &graph)
    let interpreter = try Interpreter(model: graph.model(outputs: [places, drawn, part]).model())
    func run(_ values: [Float], from begin: Int32 = 0) throws -> [UInt8] {
      try interpreter.copy(values, toInputAt: 0)
      try interpreter.copy([-begin], toInputAt: 1)
      try interpreter.invoke()
      return try interpreter.bytes(ofOutputAt: 1)
    }
    let (two, others, one): ([Float], [Float], [Float]) = ([1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0])
    let (first, second) = (try run(two), try run(others, from: 2))
    #expect(first != second)
    let third = try run(one)
    #expect((third == first) == isBehind && third != second)
    let fourth = try run(one)
    #expect((fourth == second) == isBehind)
    #expect(try (run(two) == first) == isBehind)
  }
}
