// SPDX-License-Identifier: Apache-2.0

// Runs a model with products of floats that are rounded to bfloat16, and compares the answer with float32's.
import Apus

let model = try Model(contentsOfFile: "Models/color-classifier.tflite")

func answer(_ interpreter: Interpreter) throws(ApusError) -> [Float] {
  let pixels = (0..<(64 * 64 * 3)).map { Float($0 % 256) / 255 }
  try interpreter.copy(pixels, toInputAt: 0)
  try interpreter.invoke()
  return try interpreter.output(at: 0)
}

var options = Interpreter.Options()
options.precision = .bfloat16
let interpreter = try Interpreter(model: model, options: options)
let rounded = try answer(interpreter)

let exact = try answer(Interpreter(model: model))
let difference = zip(rounded, exact).map { abs($0 - $1) }.max() ?? 0
print("classes:", exact.count, "the largest difference is below 1 %:", difference < 0.01)
