// SPDX-License-Identifier: Apache-2.0

// The README's model without a task: PlainTensors
import Apus

let interpreter = try Interpreter(model: Model(contentsOfFile: "Models/color-classifier.tflite"))
try interpreter.copy([Float](repeating: 0.5, count: 64 * 64 * 3), toInputAt: 0)
try interpreter.invoke()
let scores = try interpreter.dequantizedOutput(at: 0)
print(scores.count, "scores")
