// SPDX-License-Identifier: Apache-2.0

// A program written for TensorFlowLiteSwift. Nothing in it knows of Apus.
import TensorFlowLite

do {
  var options = Interpreter.Options()
  options.threadCount = 2
  let interpreter = try Interpreter(modelPath: "Models/add.tflite", options: options)
  try interpreter.resizeInput(at: 0, to: [2])
  try interpreter.allocateTensors()

  let input: [Float32] = [1, 3]
  try interpreter.copy(input.withUnsafeBufferPointer { Data(buffer: $0) }, toInputAt: 0)
  try interpreter.invoke()

  let output = try interpreter.output(at: 0)
  print(
    output.name, output.shape.dimensions,
    output.data.withUnsafeBytes { Array($0.bindMemory(to: Float32.self)) })

  try interpreter.copy(Data(count: 7), toInputAt: 0)
} catch {
  print(error.localizedDescription)
}
