// SPDX-License-Identifier: Apache-2.0

// Lists what a model takes and gives, fills its inputs with zeros, and runs it: RunAnyModel [MODEL]
import Apus

let path = CommandLine.arguments.dropFirst().first ?? "Models/weighted.tflite"

let model = try Model(contentsOfFile: path)
for input in model.inputs { print("input:", input) }
for output in model.outputs { print("output:", output) }

var options = Interpreter.Options()
options.threadCount = 2
let interpreter = try Interpreter(model: model, options: options)

for position in model.inputs.indices {
  try interpreter.withInputBytes(at: position) { bytes in
    for offset in 0..<bytes.byteCount { bytes.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
  }
}
try interpreter.invoke()

for position in model.outputs.indices {
  let values = try interpreter.dequantizedOutput(at: position)
  print("values:", values.prefix(10).map { String($0) }.joined(separator: " "))
}
