// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Synchronization
import Testing

/// Operators that a caller registers.
@Suite struct CustomOperatorTests {
  /// `y = factor · x`, by a type.
  struct Scale: CustomOperatorKernel {
    let outputShapes: [TensorShape]
    private let factor: Float

    init(preparing node: CustomOperatorNode) throws(ApusError) {
      try node.expect(inputs: 1, outputs: 1)
      guard node.outputs[0].type == .float32 else { throw node.unsupported("takes floats only") }
      outputShapes = [try node.input(0).shape]
      factor = Float(node.optionBytes.first ?? 2)
    }

    func invoke(_ tensors: borrowing CustomOperatorTensors) throws(ApusError) {
      let input = try tensors.input(0, as: Float.self)
      var output = try tensors.output(0, as: Float.self)
      for index in 0..<input.count { output[index] = factor * input[index] }
    }
  }

  /// A FlexBuffer of the map `{"factor": -3}`.
  private static let options: [UInt8] = [
    0x66, 0x61, 0x63, 0x74, 0x6F, 0x72, 0, 1, 8, 1, 1, 1, 0xFD, 4, 2, 0x24, 1,
  ]

  private static func model(options: [UInt8]? = nil, name: String = "Scale") throws -> Model {
    try TestModel(
      tensors: [
        .init(name: "x", shape: [1, 3]), .init(name: "a", shape: [1, 3]), .init(name: "y", shape: [1, 3]),
      ],
      operators: [
        .init(code: .custom, inputs: [0], outputs: [1], customName: name, customOptions: options),
        .init(code: .add, inputs: [1, 0], outputs: [2]),
      ],
      inputs: [0], outputs: [2]
    ).model()
  }

  private static func run(_ model: Model, _ operators: [CustomOperator]) throws -> [Float] {
    var options = Interpreter.Options()
    options.customOperators = operators
    let interpreter = try Interpreter(model: model, options: options)
    try interpreter.copy([1, 2, -4] as [Float], toInputAt: 0)
    try interpreter.invoke()
    return try interpreter.output(at: 0, as: Float.self)
  }

  @Test func aTypeImplementsAnOperator() throws {
    let scale = CustomOperator(name: "Scale", Scale.self)
    #expect(try Self.run(Self.model(), [scale]) == [3, 6, -12])
    #expect(try Self.run(Self.model(options: [9]), [scale]) == [10, 20, -40])
  }

  @Test func closuresImplementAnOperatorWithOptionsAndScratch() throws {
    let scale = CustomOperator(name: "Scale") { node throws(ApusError) in
      let factor = Float(try node.options.number("factor", default: 1))
      let shape = try node.input(0).shape
      return CustomOperator.Plan(outputShapes: [shape], scratchByteCount: 16) { tensors throws(ApusError) in
        let input = try tensors.input(0, as: Float.self)
        var output = try tensors.output(0, as: Float.self)
        #expect(try tensors.scratch().byteCount == 16)
        for index in 0..<input.count { output[index] = factor * input[index] }
      }
    }
    #expect(try Self.run(Self.model(options: Self.options), [scale]) == [-2, -4, 8])
    #expect(try Self.run(Self.model(), [scale]) == [2, 4, -8])
  }

  /// A model of two custom operators in a row: the first calls `first`, and `count` counts runs of the second.
  private static func pair(_ first: @escaping @Sendable () -> Void, _ count: Counter)
    -> (model: TestModel, operators: [CustomOperator])
  {
    func copying(_ name: String, _ body: @escaping @Sendable () -> Void) -> CustomOperator {
      CustomOperator(name: name) { node throws(ApusError) in
        CustomOperator.Plan(outputShapes: [try node.input(0).shape]) { _ throws(ApusError) in body() }
      }
    }
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 3]), .init(name: "a", shape: [1, 3]), .init(name: "y", shape: [1, 3]),
      ],
      operators: [
        .init(code: .custom, inputs: [0], outputs: [1], customName: "First"),
        .init(code: .custom, inputs: [1], outputs: [2], customName: "Second"),
      ],
      inputs: [0], outputs: [2])
    return (model, [copying("First", first), copying("Second") { count.add() }])
  }

  /// Counts calls.
  private final class Counter: Sendable {
    private let value = Atomic<Int>(0)
    func add() { value.add(1, ordering: .relaxed) }
    var count: Int { value.load(ordering: .relaxed) }
  }

  @Test("a small model that is cancelled within a custom operator does not begin the next one")
  func cancellation() throws {
    let flag = Cancellation()
    let count = Counter()
    let (model, operators) = Self.pair({ flag.cancel() }, count)
    var options = Interpreter.Options()
    options.customOperators = operators
    let interpreter = try Interpreter(model: model.model(), options: options)
    #expect(throws: ApusError(.cancelled, "the run was cancelled")) {
      try interpreter.invoke(cancellation: flag)
    }
    #expect(count.count == 0)
    try interpreter.invoke()
    #expect(count.count == 1)
  }

  @Test("a small model whose custom operator takes longer than the limit does not begin the next one")
  func deadline() throws {
    let count = Counter()
    let (model, operators) = Self.pair({ Thread.sleep(forTimeInterval: 0.6) }, count)
    var options = Interpreter.Options()
    options.customOperators = operators
    // Preparing counts, too.
    options.timeLimit = .milliseconds(300)
    let interpreter = try Interpreter(model: model.model(), options: options)
    let error = #expect(throws: ApusError.self) { try interpreter.invoke() }
    #expect(error?.code == .resourceLimit)
    #expect(count.count == 0)
  }

  @Test func anUnknownOperatorIsRefusedByName() throws {
    let model = try Self.model(name: "Unknown")
    #expect(model.unsupportedOperators.count == 1)
    #expect(model.unsupportedOperators(besides: [CustomOperator(name: "Unknown", Scale.self)]).isEmpty)
    let error = #expect(throws: ApusError.self) { try Self.run(model, []) }
    #expect(error?.code == .unsupportedOperator)
    #expect(error?.message.contains("Unknown") == true)
  }

  @Test func errorsOfPreparationNameTheOperator() throws {
    let picky = CustomOperator(name: "Scale") { node throws(ApusError) in
      throw node.malformed("is never right")
    }
    let error = #expect(throws: ApusError.self) { try Self.run(Self.model(), [picky]) }
    #expect(error?.message == "operator #0, Scale: is never right")
  }

  @Test func aWrongTypeOrPositionIsAnError() throws {
    for position in [0, 5] {
      let wrong = CustomOperator(name: "Scale") { node throws(ApusError) in
        CustomOperator.Plan(outputShapes: [try node.input(0).shape]) { tensors throws(ApusError) in
          _ = try tensors.input(position, as: Int32.self)
        }
      }
      let error = #expect(throws: ApusError.self) { try Self.run(Self.model(), [wrong]) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func aPlanWithTooManyOutputsIsRefused() throws {
    let generous = CustomOperator(name: "Scale") { _ throws(ApusError) in
      CustomOperator.Plan(outputShapes: [[1], [2]]) { _ in }
    }
    #expect(throws: ApusError.self) { try Self.run(Self.model(), [generous]) }
  }

  @Test func twoOperatorsOfOneNameAreRefused() throws {
    let scale = CustomOperator(name: "Scale", Scale.self)
    #expect(throws: ApusError.self) { try Self.run(Self.model(), [scale, scale]) }
  }

  @Test(
    "operators for other machines, and those of TensorFlow, say what to do",
    arguments: [
      ("edgetpu-custom-op", "Edge TPU"), ("ethos-u", "Ethos-U"), ("DISPATCH_OP", "NPU"),
      ("FlexErf", "operator Erf"),
    ])
  func advisesOnForeignOperators(name: String, advice: String) throws {
    let model = try Self.model(name: name)
    #expect(model.unsupportedOperators.count == 1)
    #expect(model.unsupportedOperators.first?.contains(advice) == true)
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model) }
    #expect(error?.message.contains(advice) == true && error?.message.contains(name) == true)
  }
}
