// SPDX-License-Identifier: Apache-2.0
import Apus
import TestSupport
import Testing

/// A fault in a plan is an error that names step and tensor, not a trap or a wrong number.
@Suite struct PlanCheckerTests {

  /// `a = conv(x)`, `b = a · a`, `c = reshape(b)`, `d = σ(c)`, `e = d · k` and `y = c + e`; `y` and `a` are outputs.
  private static func interpreter() throws -> Interpreter {
    var random = SeededGenerator(seed: 5)
    let shape: [Int32] = [1, 8, 8, 4]
    let flat: [Int32] = [1, 256]
    let weights = (0..<16).map { _ in Float.random(in: -1...1, using: &random) }
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: shape),
        .init(name: "w", shape: [4, 1, 1, 4], data: TestModel.bytes(weights)),
        .init(name: "bias", shape: [4], data: TestModel.bytes([1, 2, 3, 4])), .init(name: "a", shape: shape),
        .init(name: "b", shape: shape), .init(name: "c", shape: flat), .init(name: "d", shape: flat),
        .init(name: "k", shape: [1], data: TestModel.bytes([2])), .init(name: "e", shape: flat),
        .init(name: "y", shape: flat),
        .init(name: "shape", type: TestModel.int32, shape: [2], data: [1, 0, 0, 0, 0, 1, 0, 0]),
      ],
      operators: [
        .init(code: .conv2D, inputs: [0, 1, 2], outputs: [3], options: .conv2D()),
        .init(code: .mul, inputs: [3, 3], outputs: [4]),
        .init(code: .reshape, inputs: [4, 10], outputs: [5]),
        .init(code: .logistic, inputs: [5], outputs: [6]),
        .init(code: .mul, inputs: [6, 7], outputs: [8]),
        .init(code: .add, inputs: [5, 8], outputs: [9]),
      ],
      inputs: [0], outputs: [9, 3])
    // One step for each operator, whose results lie apart from what it reads.
    var options = Interpreter.Options()
    options.passes = .all.without([.chains, .overwriting])
    return try Interpreter(model: model.model(), options: options)
  }

  private static func place(_ tensor: Int, in plan: PlanNumbers) throws -> Int {
    try #require(plan.places.firstIndex { $0.tensor == tensor })
  }

  private static func step(_ node: Int, in plan: PlanNumbers) throws -> Int {
    try #require(plan.steps.firstIndex { $0.nodes == [node] })
  }

  private static func expect(
    _ parts: String..., after change: @escaping (inout PlanNumbers) throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let interpreter = try interpreter()
    do throws(ApusError) {
      try interpreter.checkPlan { plan in
        do { try change(&plan) } catch { Issue.record(error) }
      }
      Issue.record("the broken plan passed", sourceLocation: sourceLocation)
    } catch {
      #expect(error.code == .internalError, sourceLocation: sourceLocation)
      for part in parts {
        #expect(error.message.contains(part), "\(error.message)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test("a plan as it is made is sound")
  func sound() throws { try Self.interpreter().checkPlan { _ in } }

  @Test("a tensor that is read after its bytes were given away is named with the step")
  func lifetime() throws {
    // c, the view of b, is read by the last step; e is written before that.
    try Self.expect("operator #5", "reads c", "written over") { plan in
      let (b, e) = (try Self.place(4, in: plan), try Self.place(8, in: plan))
      plan.places[e].offset = plan.places[b].offset
    }
  }

  @Test("a step that writes over what it reads is named", arguments: [0, 64])
  func aliasing(distance: Int) throws {
    try Self.expect("operator #3", "reads c") { plan in
      plan.steps[try Self.step(3, in: plan)].mayOverwrite = false
      plan.places[try Self.place(6, in: plan)].offset =
        plan.places[try Self.place(4, in: plan)].offset + distance
    }
  }

  @Test("a result may lie exactly where an operand does that nothing reads later, if its operator says so")
  func overwriting() throws {
    // e is computed in the place of d, which nothing else reads.
    func overwrite(_ plan: inout PlanNumbers, distance: Int = 0) throws {
      plan.places[try Self.place(8, in: plan)].offset =
        plan.places[try Self.place(6, in: plan)].offset + distance
    }
    try Self.interpreter().checkPlan { plan in
      do { try overwrite(&plan) } catch { Issue.record(error) }
    }
    try Self.expect("operator #4", "reads d and writes over it") { plan in
      try overwrite(&plan)
      plan.steps[try Self.step(4, in: plan)].mayOverwrite = false
    }
    try Self.expect("operator #4", "reads d and writes over it") { try overwrite(&$0, distance: -64) }
    // The operator of d allows it, too, but y is the sum of c and e.
    try Self.expect("operator #5", "reads c", "written over") { plan in
      plan.places[try Self.place(6, in: plan)].offset = plan.places[try Self.place(4, in: plan)].offset
    }
  }

  @Test("scratch memory that meets another tensor of its step is named")
  func scratch() throws {
    try Self.expect("operator #0", "a") { plan in
      let scratch = try #require(plan.steps[0].scratch.first)
      let place = try Self.place(scratch, in: plan)
      plan.places[place].byteCount = max(plan.places[place].byteCount, 64)
      plan.places[place].offset = plan.places[try Self.place(3, in: plan)].offset
    }
  }

  @Test("steps in the wrong order are named")
  func order() throws {
    try Self.expect("operator #4", "reads d", "not written yet") { plan in
      let sigmoid = try #require(plan.steps.firstIndex { $0.nodes == [3] })
      plan.steps.swapAt(sigmoid, sigmoid + 1)
    }
  }

  @Test("a constant that is not in place is named")
  func constants() throws {
    try Self.expect("operator #4", "constant k") { plan in plan.pinned.removeAll { $0 == 7 } }
  }

  @Test("places out of the block, too small or not aligned are named", arguments: [32, 1 << 20, -64])
  func places(offset: Int) throws {
    try Self.expect("a lies at") { plan in plan.places[try Self.place(3, in: plan)].offset = offset }
    try Self.expect("a lies at") { plan in plan.places[try Self.place(3, in: plan)].byteCount = 1020 }
  }

  @Test("an operator that no step does, or two do, is named")
  func operators() throws {
    try Self.expect("operator #3", "no step computes d") { plan in plan.steps.removeAll { $0.nodes == [3] } }
    try Self.expect("operator #4", "another step") { plan in
      let index = try #require(plan.steps.firstIndex { $0.nodes == [4] })
      plan.steps[index].nodes = [4, 3]
    }
  }

  @Test("a tensor that others read must be written, and only an operator's own inputs be read")
  func tensors() throws {
    try Self.expect("operator #1", "does not write b") { plan in
      let index = try #require(plan.steps.firstIndex { $0.nodes == [1] })
      plan.steps[index].writes = []
    }
    try Self.expect("operator #4", "no input") { plan in
      let index = try #require(plan.steps.firstIndex { $0.nodes == [4] })
      plan.steps[index].reads.append(3)
    }
  }

  @Test("an output that is gone at the end is named")
  func outputs() throws {
    try Self.expect("output a", "not there") { plan in
      plan.places[try Self.place(8, in: plan)].offset = plan.places[try Self.place(3, in: plan)].offset
    }
  }
}
