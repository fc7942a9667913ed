// SPDX-License-Identifier: Apache-2.0

// Calls the functions of a model by their names.
import Apus

let model = try Model(contentsOfFile: "Models/multi_signatures.tflite")
for signature in model.signatures {
  let interpreter = try Interpreter(model: model, signature: signature.key)
  let x = try interpreter.inputIndex(named: "x")
  try interpreter.copy([40] as [Float], toInputAt: x)
  try interpreter.invoke()
  let result = try interpreter.output(at: interpreter.outputIndex(named: "output_0"), as: Float.self)
  print(signature.key, result)
}
