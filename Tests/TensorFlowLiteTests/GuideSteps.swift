// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite

/// The steps of a guide for detectors of AutoML Vision Edge: load, copy the picture byte by byte, invoke, and copy the
/// outputs to buffers of one's own.
func detectedObjects(modelPath: String, labelPath: String, frame: [UInt8]) throws -> [String] {
  let interpreter = try Interpreter(modelPath: modelPath)
  try interpreter.allocateTensors()

  var inputData = Data()
  for pixel in 0..<160 * 160 {
    for channel in 0..<3 {
      var value = frame[4 * pixel + channel]
      inputData.append(&value, count: 1)
    }
  }
  try interpreter.copy(inputData, toInputAt: 0)
  try interpreter.invoke()

  var output = try interpreter.output(at: 0)
  let count = output.shape.dimensions[1]
  let boundingBoxes = UnsafeMutableBufferPointer<Float32>.allocate(capacity: 4 * count)
  defer { boundingBoxes.deallocate() }
  _ = output.data.copyBytes(to: boundingBoxes)

  output = try interpreter.output(at: 1)
  let labels = UnsafeMutableBufferPointer<Float32>.allocate(capacity: count)
  defer { labels.deallocate() }
  _ = output.data.copyBytes(to: labels)

  output = try interpreter.output(at: 2)
  let probabilities = UnsafeMutableBufferPointer<Float32>.allocate(capacity: count)
  defer { probabilities.deallocate() }
  _ = output.data.copyBytes(to: probabilities)

  let labelText = try String(contentsOfFile: labelPath, encoding: .utf8).components(separatedBy: "\n")
  return (0..<count).filter { probabilities[$0] > 0.66 }.map { index in
    let name = labelText[Int(labels[index])]
    return "\(name) \(probabilities[index]) (\(boundingBoxes[4 * index]), \(boundingBoxes[4 * index + 1]))"
  }
}
