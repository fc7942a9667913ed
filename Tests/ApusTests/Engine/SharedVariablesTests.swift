// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Testing

/// Functions of one model that work on the same variables, and inputs that must fit each other.
struct SharedVariablesTests {
  private func model(_ name: String) throws -> Model {
    try Model(
      contentsOfFile: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Goldens/clients/\(name).tflite").standardizedFileURL.path)
  }

  /// The answers of LiteRT's runners of one interpreter: `check_counter` in `Tools/goldens/client_models.py`.
  @Test("an interpreter that shares variables reads what the other assigned; set-up runs once")
  func sharesVariables() throws {
    let add = try Interpreter(model: model("counter"), signature: "add")
    let read = try Interpreter(sharingVariablesOf: add, signature: "read")
    for (amount, total) in [(Float(5), Float(15)), (1, 16)] {
      try add.copy([amount], toInputAt: 0)
      try add.invoke()
      try read.invoke()
      #expect(try read.output(at: 0) == [total])
    }
    let separate = try Interpreter(model: model("counter"), signature: "read")
    try separate.invoke()
    #expect(try separate.output(at: 0) == [Float(10)])
    #expect(throws: ApusError.self) { try Interpreter(sharingVariablesOf: add, signature: "write") }
    #expect(throws: ApusError.self) {
      try Interpreter(sharingVariablesOf: add, signature: "add", inputShapes: [1: [1]])
    }
  }

  @Test("inputs that only fit each other after all are resized are resized together, or not at all")
  func resizesInputsTogether() throws {
    let interpreter = try Interpreter(model: model("difference"))
    #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [3]) }
    try interpreter.resizeInputs([0: [3], 1: [3]])
    try interpreter.copy([5, 7, 9] as [Float], toInputAt: 0)
    try interpreter.copy([1, 2, 3] as [Float], toInputAt: 1)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [4, 5, 6] as [Float])
    for shapes in [[0: [4], 1: [5]], [0: [-1]], [2: [3]]] as [[Int: TensorShape]] {
      #expect(throws: ApusError.self) { try interpreter.resizeInputs(shapes) }
      #expect(interpreter.inputs.map(\.shape) == [[3], [3]])
    }
    try interpreter.invoke()
  }
}
