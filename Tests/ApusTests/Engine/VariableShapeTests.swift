// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

/// Resource variables whose shape is not the one that a reader declares; expected values are LiteRT's.
@Suite struct VariableShapeTests {
  private static let resource: Int32 = 13

  /// Assigns the input to a variable, reads it into a tensor of a declared shape, and adds that to itself.
  private static func model(declaring shape: [Int32]) -> TestModel {
    TestModel(
      tensors: [
        .init(name: "x", shape: [1, 4]), .init(name: "state", type: resource, shape: []),
        .init(name: "y", shape: shape), .init(name: "twice", shape: shape),
      ],
      operators: [
        .init(code: .varHandle, inputs: [], outputs: [1], options: .varHandle(name: "state")),
        .init(code: .assignVariable, inputs: [1, 0], outputs: []),
        .init(code: .readVariable, inputs: [1], outputs: [2]),
        .init(code: .add, inputs: [2, 2], outputs: [3]),
      ], inputs: [0], outputs: [3])
  }

  private static func run(_ interpreter: Interpreter, _ shape: TensorShape) throws -> [Float] {
    try interpreter.resizeInput(at: 0, to: shape)
    try interpreter.copy((0..<shape.elementCount).map { Float($0) }, toInputAt: 0)
    try interpreter.invoke()
    return try interpreter.output(at: 0)
  }

  @Test("a tensor without dimensions takes the shape that the variable has in each run")
  func unknownShape() throws {
    let interpreter = try Interpreter(model: Self.model(declaring: []).model())
    #expect(try Self.run(interpreter, [1, 4]) == [0, 2, 4, 6])
    #expect(
      try Self.run(interpreter, [2, 3]) == [0, 2, 4, 6, 8, 10] && interpreter.outputs[0].shape == [2, 3])
    #expect(try Self.run(interpreter, [1, 4]) == [0, 2, 4, 6] && interpreter.outputs[0].shape == [1, 4])
  }

  @Test(
    "of a variable that became larger the first elements are read",
    arguments: [[1, 4], [2, 2]] as [[Int32]])
  func largerVariable(declared: [Int32]) throws {
    let interpreter = try Interpreter(model: Self.model(declaring: declared).model())
    #expect(try Self.run(interpreter, [1, 4]) == [0, 2, 4, 6])
    #expect(try Self.run(interpreter, [3, 4]) == [0, 2, 4, 6])
    #expect(interpreter.outputs[0].shape == TensorShape(declared.map { Int($0) }))
    #expect(try Self.run(interpreter, [1, 4]) == [0, 2, 4, 6])
  }

  @Test("a variable with fewer elements than the tensor is an error of the data, which names both")
  func smallerVariable() throws {
    let interpreter = try Interpreter(model: Self.model(declaring: [3, 4]).model())
    let error = #expect(throws: ApusError.self) { _ = try Self.run(interpreter, [1, 4]) }
    #expect(error?.code == .invalidData)
    #expect(
      error?.message.contains("the variable is float32 1×4, not float32 3×4, which has more elements") == true
    )
    // The next run may have enough.
    #expect(try Self.run(interpreter, [3, 4]).count == 12)
  }
}
