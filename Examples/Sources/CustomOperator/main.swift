// SPDX-License-Identifier: Apache-2.0

// Runs a model with an operator that the engine does not have: "Scale", which multiplies by a factor.
import Apus

let scale = CustomOperator(name: "Scale") { node throws(ApusError) in
  try node.expect(inputs: 1, outputs: 1)
  let factor = Float(try node.options.number("factor", default: 1))
  return CustomOperator.Plan(outputShapes: [try node.input(0).shape]) { tensors throws(ApusError) in
    let input = try tensors.input(0, as: Float.self)
    var output = try tensors.output(0, as: Float.self)
    for index in 0..<input.count { output[index] = factor * input[index] }
  }
}

let model = try Model(contentsOfFile: "Models/scale.tflite")
print(model.unsupportedOperators)

var options = Interpreter.Options()
options.customOperators = [scale]
let interpreter = try Interpreter(model: model, options: options)
try interpreter.copy([1, 2, 3] as [Float], toInputAt: 0)
try interpreter.invoke()
print(try interpreter.output(at: 0, as: Float.self))
