import Apus
import Testing

/// Forms that converters write seldom, and that the format allows.
@Suite struct OddModelTests {
  private func outputs(of model: TestModel, _ input: [Float]) throws -> (TensorShape, [Float]) {
    let interpreter = try Interpreter(model: model.model())
    try interpreter.copy(input, toInputAt: 0)
    try interpreter.invoke()
    return (interpreter.outputs[0].shape, try interpreter.output(at: 0, as: Float.self))
  }

  /// `tf.reshape(x, [])` has a shape of no elements, for which the file has no bytes.
  @Test func reshapesToAScalar() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 1]), .init(name: "shape", type: TestModel.int32, shape: [0], data: []),
        .init(name: "y", shape: []),
      ],
      operators: [.init(code: TestModel.reshape, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
    let (shape, values) = try outputs(of: model, [7])
    #expect(shape == [])
    #expect(values == [7])
  }

  @Test func joinsAConstantWithoutElements() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2, 3]), .init(name: "nothing", shape: [0, 3], data: []),
        .init(name: "y", shape: [2, 3]),
      ],
      operators: [.init(code: TestModel.concatenation, inputs: [1, 0], outputs: [2], options: [0: .int(0)])],
      inputs: [0], outputs: [2])
    let (shape, values) = try outputs(of: model, [1, 2, 3, 4, 5, 6])
    #expect(shape == [2, 3])
    #expect(values == [1, 2, 3, 4, 5, 6])
  }

  @Test func answersWithAConstantWithoutElements() throws {
    var model = TestModel.chain()
    model.tensors.append(.init(name: "nothing", shape: [0, 3], data: []))
    model.outputs.append(4)
    model.signature = nil
    let interpreter = try Interpreter(model: model.model())
    try interpreter.invoke()
    #expect(interpreter.outputs[1].shape == [0, 3])
    #expect(try interpreter.output(at: 1, as: Float.self) == [])
  }

  /// A tensor of no elements that nothing writes is a constant; one with elements is an error.
  @Test func refusesTensorsThatNothingWrites() throws {
    var model = TestModel.chain()
    model.tensors[0].shape = [1, 4]
    model.tensors.append(.init(name: "missing", shape: [1, 4]))
    model.operators[1].inputs = [1, 4]
    let error = try #require(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error.code == .malformedModel)
    #expect(error.message.contains("missing"))
  }
}
