// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Testing

/// Functions of `int16` have results in units of 2⁻¹⁵: another scale in the file would make others of them.
@Suite struct FixedScaleTests {
  private static func interpreter(_ code: OperatorCode, scale: Float) throws -> Interpreter {
    var graph = TestGraph()
    let x = graph.input("x", [1, 5], type: .int16, scale: 1 / 3000)
    let options = code == .softmax ? TestOptions.softmax(beta: 1) : .none
    let y = graph.add(code, inputs: [x], options: options, as: .init("y", scale: scale))
    return try Interpreter(model: graph.model(outputs: [y]).model())
  }

  @Test("the reference's scale is taken", arguments: [OperatorCode.softmax, .logistic, .tanh])
  func takesTheScale(code: OperatorCode) throws { _ = try Self.interpreter(code, scale: 1 / 32768) }

  @Test(
    "scales that the reference refuses are refused",
    arguments: [
      (OperatorCode.softmax, Float(1.0 / 256)), (.softmax, 1.0012 / 32768), (.logistic, 1.0004 / 32768),
    ])
  func refusesOthers(code: OperatorCode, scale: Float) throws {
    let error = try #require(throws: ApusError.self) { try Self.interpreter(code, scale: scale) }
    #expect(error.code == .malformedModel && error.message.contains("y has the scale"))
  }

  @Test("the reference takes scales near its own from SOFTMAX")
  func takesScalesNearby() throws { _ = try Self.interpreter(.softmax, scale: 1.0008 / 32768) }
}
