// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Testing

/// Booleans of bytes other than 0 and 1, which a program may pass: each is true, as in LiteRT's reference kernels.
@Suite struct TruthTests {
  private static let left: [UInt8] = [0, 1, 2, 255, 1, 0, 2, 0]
  private static let right: [UInt8] = [1, 1, 1, 255, 2, 2, 0, 0]

  /// The bytes of an operator's result, with the right operand as an input or as a constant.
  private func bytes(of code: OperatorCode, _ right: [UInt8], isConstant: Bool) throws -> [UInt8] {
    var graph = TestGraph()
    let x = graph.input("x", [Self.left.count], type: .bool)
    let y =
      isConstant
      ? graph.tensor("y", [right.count], type: .bool, bytes: right)
      : graph.input("y", [right.count], type: .bool)
    let result = graph.add(code, inputs: [x, y])
    let interpreter = try Interpreter(model: graph.model(outputs: [result]).model())
    try interpreter.copyBytes(Self.left, toInputAt: 0)
    if !isConstant { try interpreter.copyBytes(right, toInputAt: 1) }
    try interpreter.invoke()
    return try interpreter.bytes(ofOutputAt: 0)
  }

  @Test(
    "comparisons take every byte but 0 for true", arguments: [false, true],
    [
      (.equal, right, [0, 1, 1, 1, 1, 0, 0, 1]), (.notEqual, right, [1, 0, 0, 0, 0, 1, 1, 0]),
      (.equal, [2], [0, 1, 1, 1, 1, 0, 1, 0]), (.notEqual, [2], [1, 0, 0, 0, 0, 1, 0, 1]),
    ] as [(OperatorCode, [UInt8], [UInt8])])
  func compares(isConstant: Bool, expected: (OperatorCode, [UInt8], [UInt8])) throws {
    let (code, right, result) = expected
    #expect(try bytes(of: code, right, isConstant: isConstant) == result)
  }
}
