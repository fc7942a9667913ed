// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

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
      operators: [.init(code: .reshape, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
    let (shape, values) = try outputs(of: model, [7])
    #expect(shape == [])
    #expect(values == [7])
  }

  @Test("powers with a constant exponent", arguments: [2, 3, 0.5, -1] as [Float])
  func powers(exponent: Float) throws {
    let values: [Float] = [0.1, 2, 7.5, 1e20, 0]
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 5]),
        .init(name: "exponent", shape: [], data: TestModel.bytes([exponent])),
        .init(name: "y", shape: [1, 5]),
      ],
      operators: [.init(code: .pow, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
    for (value, found) in zip(values, try outputs(of: model, values).1) {
      let expected = Float(pow(Double(value), Double(exponent)))
      #expect(found == expected || abs(found - expected) <= 2 * expected.ulp, "\(value)")
    }
  }

  /// A window that fits nowhere, under weights that are fetched ahead for the next panel.
  @Test(
    "a convolution whose output has no rows answers with none",
    arguments: [TestModel.float32, TestModel.uint8])
  func convolvesToNothing(type: Int32) throws {
    let (inputs, outputs): (Int32, Int32) = (32, 1404)
    let weights = Int(outputs * 9 * inputs) * (type == TestModel.float32 ? 4 : 1)
    let model = TestModel(
      tensors: [
        .init(name: "x", type: type, shape: [1, 1, 3, inputs], scale: 1),
        .init(
          name: "w", type: type, shape: [outputs, 3, 3, inputs], data: Array(repeating: 0, count: weights),
          scale: 1),
        .init(name: "y", type: type, shape: [1, 1, 1, outputs], scale: 1),
      ],
      operators: [
        .init(
          code: .conv2D, inputs: [0, 1, -1], outputs: [2],
          options: .conv2D(isValid: true, strideWidth: 3, strideHeight: 3))
      ],
      inputs: [0], outputs: [2])
    for kernels in Runtime.kernelSets where kernels.isSupported {
      var options = Interpreter.Options()
      options.kernels = kernels.name
      let interpreter = try Interpreter(model: model.model(), options: options)
      try interpreter.invoke()
      #expect(interpreter.outputs[0].shape == [1, 0, 1, 1404])
    }
  }

  @Test func joinsAConstantWithoutElements() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2, 3]), .init(name: "nothing", shape: [0, 3], data: []),
        .init(name: "y", shape: [2, 3]),
      ],
      operators: [
        .init(code: .concatenation, inputs: [1, 0], outputs: [2], options: .concatenation(axis: 0))
      ],
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

  /// Fields of another operator's table would mean something else; LiteRT does not read them either.
  @Test func readsNoOptionsOfAnotherOperator() throws {
    var model = TestModel(
      tensors: [.init(name: "x", shape: [2]), .init(name: "y", shape: [2])],
      operators: [
        .init(code: .add, inputs: [0, 0], outputs: [1], options: .activation(1))
      ],
      inputs: [0], outputs: [1])
    #expect(try outputs(of: model, [-1, 2]).1 == [0, 4])
    model.operators[0].optionsType = 21  // those of MUL
    #expect(try outputs(of: model, [-1, 2]).1 == [-2, 4])
  }

  /// A window of 3×3 has no place in the 1×1 that open dimensions are without more.
  private var openConvolution: TestModel {
    let open: [Int32] = [1, -1, -1, 1]
    return TestModel(
      tensors: [
        .init(name: "x", shape: [1, 1, 1, 1], signature: open),
        .init(name: "y", shape: [1, 1, 1, 1], signature: open),
      ],
      operators: [
        .init(
          code: .conv2D, inputs: [0, 2, 3], outputs: [1],
          options: .conv2D(isValid: true))
      ],
      inputs: [0], outputs: [1])
  }

  @Test func preparesForShapesThatOptionsGive() throws {
    var model = openConvolution
    model.tensors.append(
      .init(name: "filter", shape: [1, 3, 3, 1], data: TestModel.bytes(Array(repeating: 1, count: 9))))
    model.tensors.append(.init(name: "bias", shape: [1], data: TestModel.bytes([0])))
    let error = try #require(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error.message.contains("does not fit"))
    var options = Interpreter.Options()
    options.inputShapes = [0: [1, 3, 4, 1]]
    let interpreter = try Interpreter(model: model.model(), options: options)
    try interpreter.copy([Float](repeating: 1, count: 12), toInputAt: 0)
    try interpreter.invoke()
    #expect(interpreter.outputs[0].shape == [1, 1, 2, 1])
    #expect(try interpreter.output(at: 0, as: Float.self) == [9, 9])
    options.inputShapes = [1: [1]]
    #expect(throws: ApusError.self) { try Interpreter(model: model.model(), options: options) }
    options.inputShapes = [0: [1, -3, 4, 1]]
    #expect(throws: ApusError.self) { try Interpreter(model: model.model(), options: options) }
  }

  /// 64 MiB of memory could mean 2⁵⁶ comparisons.
  @Test func refusesWorkThatTakesTooLong() throws {
    let side: Int32 = 8192
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, side, side, 1]), .init(name: "y", shape: [1, side, side, 1]),
      ],
      operators: [
        .init(
          code: .maxPool2D, inputs: [0], outputs: [1],
          options: .pool2D(filterHeight: side, filterWidth: side))
      ],
      inputs: [0], outputs: [1])
    let error = try #require(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error.code == .resourceLimit)
    #expect(error.message.contains("steps"))
  }

  @Test("the product of no bytes is one; the reference writes nothing")
  func productOfNothing() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", type: TestModel.int8, shape: [0, 3], scale: 0.5),
        .init(name: "axis", type: TestModel.int32, shape: [1], data: [0, 0, 0, 0]),
        .init(name: "y", type: TestModel.int8, shape: [3], scale: 0.25, zeroPoint: 5),
      ],
      operators: [.init(code: .reduceProd, inputs: [0, 1], outputs: [2], version: 2)], inputs: [0],
      outputs: [2])
    let interpreter = try Interpreter(model: model.model())
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0, as: Int8.self) == [9, 9, 9])
  }
}
