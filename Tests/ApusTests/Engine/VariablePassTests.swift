// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

/// What reads a variable sees its value at that moment, whatever passes do to the operators around; expected values are computed by hand.
@Suite struct VariablePassTests {
  private static let one = TestModel.bytes([1, 1])
  /// Valid padding, strides of one.
  private static let valid = TestOptions.conv2D(isValid: true)

  /// The first output after each of some runs, whose inputs are given.
  private func answers(_ model: TestModel, _ inputs: [[Float]]) throws -> [[Float]] {
    let interpreter = try Interpreter(model: model.model())
    return try inputs.map { input in
      try interpreter.copy(input, toInputAt: 0)
      try interpreter.invoke()
      return try interpreter.output(at: 0)
    }
  }

  @Test("a function of a variable that is written later reads the value of the run before")
  func functionOfVariable() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2]), .init(name: "one", shape: [2], data: Self.one),
        .init(name: "state", shape: [2], isVariable: true), .init(name: "y", shape: [2]),
      ],
      operators: [
        .init(code: .relu, inputs: [2], outputs: [3]),
        .init(code: .add, inputs: [0, 1], outputs: [2]),
      ], inputs: [0], outputs: [3])
    #expect(try answers(model, [[1, -3], [5, 5], [0, 0]]) == [[0, 0], [2, 0], [6, 6]])
  }

  @Test("a function whose result is a variable does not replace it early")
  func functionIntoVariable() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2]), .init(name: "one", shape: [2], data: Self.one),
        .init(name: "state", shape: [2], isVariable: true), .init(name: "sum", shape: [2]),
        .init(name: "y", shape: [2]),
      ],
      operators: [
        .init(code: .add, inputs: [0, 1], outputs: [3]),
        .init(code: .mul, inputs: [2, 0], outputs: [4]),
        .init(code: .relu, inputs: [3], outputs: [2]),
      ], inputs: [0], outputs: [4])
    #expect(try answers(model, [[1, -3], [5, 5], [2, 1]]) == [[0, 0], [10, 0], [12, 6]])
  }

  @Test("a factor that is a variable is not computed anew")
  func gateOfVariable() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2]), .init(name: "state", shape: [2], isVariable: true),
        .init(name: "y", shape: [2]),
      ],
      operators: [
        .init(code: .mul, inputs: [0, 1], outputs: [2]),
        .init(code: .logistic, inputs: [0], outputs: [1]),
      ], inputs: [0], outputs: [2])
    #expect(try answers(model, [[0, 0], [8, 4], [0, 0]]) == [[0, 0], [4, 2], [0, 0]])
  }

  /// A picture of 2 × 2 pixels, ones for a filter of 3 × 3, amounts of padding, a larger picture, and the result.
  private static func pictures(isVariable: (small: Bool, large: Bool)) -> [TestModel.TensorSpec] {
    let amounts: [Int32] = [0, 0, 1, 1, 1, 1, 0, 0]
    return [
      .init(name: "x", shape: [1, 2, 2, 1]),
      .init(name: "small", shape: [1, 2, 2, 1], isVariable: isVariable.small),
      .init(name: "large", shape: [1, 4, 4, 1], isVariable: isVariable.large),
      .init(
        name: "amounts", type: TestModel.int32, shape: [4, 2],
        data: amounts.flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } }),
      .init(
        name: "filter", shape: [1, 3, 3, 1], data: TestModel.bytes(Array(repeating: 1, count: 9))),
      .init(name: "bias", shape: [1], data: TestModel.bytes([0])),
      .init(name: "zero", shape: [1], data: TestModel.bytes([0])),
      .init(name: "y", shape: [1, 2, 2, 1]),
    ]
  }

  @Test("a convolution of a variable that is padded later reads the picture of the run before")
  func convolutionOfVariable() throws {
    let model = TestModel(
      tensors: Self.pictures(isVariable: (false, true)),
      operators: [
        .init(code: .conv2D, inputs: [2, 4, 5], outputs: [7], options: Self.valid),
        .init(code: .pad, inputs: [0, 3], outputs: [2]),
      ], inputs: [0], outputs: [7])
    #expect(
      try answers(model, [[1, 2, 3, 4], [0, 0, 0, 1], [0, 0, 0, 0]]) == [
        [0, 0, 0, 0], [10, 10, 10, 10], [1, 1, 1, 1],
      ])
  }

  @Test("a variable is padded and convolved, then replaced")
  func paddedVariable() throws {
    let model = TestModel(
      tensors: Self.pictures(isVariable: (true, false)),
      operators: [
        .init(code: .pad, inputs: [1, 3], outputs: [2]),
        .init(code: .conv2D, inputs: [2, 4, 5], outputs: [7], options: Self.valid),
        .init(code: .add, inputs: [0, 6], outputs: [1]),
      ], inputs: [0], outputs: [7])
    #expect(
      try answers(model, [[1, 2, 3, 4], [0, 0, 0, 1], [0, 0, 0, 0]]) == [
        [0, 0, 0, 0], [10, 10, 10, 10], [1, 1, 1, 1],
      ])
  }
}
