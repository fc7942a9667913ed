// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// The needs of a model that this build lacks are told for each operator, without throwing.
@Suite struct UnsupportedOperatorTests {
  private static var relu: TestModel.OperatorSpec { .init(code: .relu, inputs: [0], outputs: [1]) }

  private static func model(_ operators: [TestModel.OperatorSpec], type: Int32 = TestModel.float32)
    -> TestModel
  {
    let count = operators.count + 1
    return TestModel(
      tensors: (0..<count).map { .init(name: "t\($0)", type: type, shape: [2, 3]) }, operators: operators,
      inputs: [0], outputs: [Int32(count - 1)])
  }

  @Test func namesUnknownCustomOperatorsAndNewVersions() throws {
    let model = try Self.model([
      Self.relu, .init(code: .custom, inputs: [1], outputs: [2], customName: "Foo"),
      .init(code: .logistic, inputs: [2], outputs: [3], version: 9),
      .init(number: 4000, inputs: [3], outputs: [4]),
    ]).model()
    #expect(
      model.unsupportedOperators == [
        "operator #1, Foo: version 1 of this custom operator is not supported",
        "operator #2, LOGISTIC: version 9 is not supported, only 1 to 3",
        "operator #3, UNKNOWN_4000: version 1 of this operator is not supported",
      ])
    let error = try #require(throws: ApusError.self) { try Interpreter(model: model) }
    #expect(error.code == .unsupportedOperator)
    #expect(error.reasons == model.unsupportedOperators)
  }

  @Test func namesTypesThatNoOperatorTakes() throws {
    let model = try Self.model([Self.relu], type: TestModel.string).model()
    #expect(
      model.unsupportedOperators == [
        "operator #0, RELU: input 0 (t0) is string, not float32, uint8, int8, int16"
      ])
    #expect(model.inputs[0].type == .string)
  }

  /// In memory each of these elements has a byte of its own, so that whole bytes would be out of their range.
  @Test(
    "bytes do not become elements of less than a byte",
    arguments: [(17, "int4"), (19, "int2"), (20, "uint4")])
  func packedBitcast(type: Int32, name: String) throws {
    let model = try TestModel(
      tensors: [
        .init(name: "x", type: TestModel.int8, shape: [2, 3]), .init(name: "y", type: type, shape: [2, 3]),
      ], operators: [.init(code: .bitcast, inputs: [0], outputs: [1])], inputs: [0], outputs: [1]
    ).model()
    let error = try #require(throws: ApusError.self) { try Interpreter(model: model) }
    #expect(error.code == .unsupportedOperator && error.message.contains("int8 as \(name)"))
  }

  /// FILL's first input is a shape, its second the data.
  @Test func namesTheTypesOfDataThatAreNotTheFirstInput() throws {
    func fill(shape: Int32, value: Int32) throws -> [String] {
      try TestModel(
        tensors: [
          .init(name: "shape", type: shape, shape: [2]), .init(name: "value", type: value, shape: []),
          .init(name: "y", type: value, shape: [2, 3]),
        ],
        operators: [.init(code: .fill, inputs: [0, 1], outputs: [2])], inputs: [0, 1], outputs: [2]
      ).model().unsupportedOperators
    }
    #expect(try fill(shape: TestModel.int32, value: TestModel.float32) == [])
    #expect(
      try fill(shape: TestModel.float32, value: TestModel.float32)
        == ["operator #0, FILL: input 0 (shape) is float32, not int32, int64"])
    let reasons = try fill(shape: TestModel.int32, value: TestModel.string)
    #expect(reasons.count == 1)
    #expect(reasons.first?.hasPrefix("operator #0, FILL: input 1 (value) is string, not float32, ") == true)
  }

  @Test func namesTheSubgraph() throws {
    var model = Self.model([Self.relu])
    model.children = [
      Self.model([.init(code: .custom, inputs: [0], outputs: [1], customName: "Deep")])
    ]
    #expect(
      try model.model().unsupportedOperators
        == ["subgraph 1, operator #0, Deep: version 1 of this custom operator is not supported"])
  }

  /// Models that are trained on a device have functions with operators of TensorFlow beside the one that predicts.
  @Test func refusesOnlyTheFunctionsThatTheyAreIn() throws {
    var description = Self.model([Self.relu])
    description.children = [
      Self.model([.init(code: .custom, inputs: [0], outputs: [1], customName: "FlexSave")]),
      Self.model([Self.relu]),
    ]
    description.childSignatures = [("save", 1), ("infer", 2)]
    let model = try description.model()
    #expect(try model.unsupportedOperators(ofSignature: nil) == [])
    #expect(try model.unsupportedOperators(ofSignature: "infer") == [])
    let reasons = try model.unsupportedOperators(ofSignature: "save")
    #expect(reasons == model.unsupportedOperators && reasons.count == 1)
    #expect(throws: ApusError.self) { try model.unsupportedOperators(ofSignature: "restore") }

    let main = try Interpreter(model: model)
    try main.copy([-1, 2, -3, 4, -5, 6] as [Float], toInputAt: 0)
    try main.invoke()
    #expect(try main.output(at: 0, as: Float.self) == [0, 2, 0, 4, 0, 6])
    _ = try Interpreter(sharingVariablesOf: main, signature: "infer")
    for make in [
      { try Interpreter(model: model, signature: "save") },
      { try Interpreter(sharingVariablesOf: main, signature: "save") },
    ] {
      let error = try #require(throws: ApusError.self) { try make() }
      #expect(error.code == .unsupportedOperator && error.reasons == reasons)
    }
  }

  @Test func refusesAFunctionThatCallsOneWithThem() throws {
    var graph = TestGraph()
    let (truth, x) = (graph.input("truth", [], type: .bool), graph.input("x", [2]))
    let plain = graph.subgraph { child in [child.relu(child.input("x", [2]))] }
    let deep = graph.subgraph { child in
      let x = child.input("x", [2])
      return [child.add(.skipGram, inputs: [x])]
    }
    let y = graph.if(truth, then: plain, else: deep, x)
    let model = try graph.model(outputs: [y]).model()
    let error = try #require(throws: ApusError.self) { try Interpreter(model: model) }
    #expect(
      error.reasons == ["subgraph 2, operator #0, SKIP_GRAM: version 1 of this operator is not supported"])
  }
}
