// SPDX-License-Identifier: Apache-2.0

// Runs a model whose inputs may have any length, with another length from run to run.
import Apus

let model = try Model(contentsOfFile: "Models/difference.tflite")

var options = Interpreter.Options()
options.inputShapes = [0: [3], 1: [3]]
let interpreter = try Interpreter(model: model, options: options)

try interpreter.copy([5, 7, 9] as [Float], toInputAt: interpreter.inputIndex(named: "first"))
try interpreter.copy([1, 2, 3] as [Float], toInputAt: interpreter.inputIndex(named: "second"))
try interpreter.invoke()
print(try interpreter.output(at: 0, as: Float.self))

// One value is subtracted from each of the others.
try interpreter.resizeInput(at: 1, to: [1])
try interpreter.copy([5, 7, 9] as [Float], toInputAt: 0)
try interpreter.copy([1] as [Float], toInputAt: 1)
try interpreter.invoke()
print(try interpreter.output(at: 0, as: Float.self))
