// SPDX-License-Identifier: Apache-2.0

// The work of a ModelDataHandler: loads a model and labels, runs a frame, formats results:
// DetectObjects MODEL LABELS PICTURE
import ApusImages
import ApusVision

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3 else { fatalError("usage: DetectObjects MODEL LABELS PICTURE") }

// A frame as a camera has it: four bytes a pixel, rows with padding.
let file = try ImageBuffer(contentsOfFile: arguments[2]).converted(to: .bgra)
let bytesPerRow = file.bytesPerRow + 64
var bytes: [UInt8] = []
for y in 0..<file.height {
  bytes += file.bytes[y * file.bytesPerRow..<(y + 1) * file.bytesPerRow] + [UInt8](repeating: 0, count: 64)
}
let frame = try ImageBuffer(
  bytes: bytes, width: file.width, height: file.height, bytesPerRow: bytesPerRow, format: .bgra,
  orientation: file.orientation)

var options = ObjectDetector.Options()
options.scoreThreshold = 0.5
options.maxResults = 10
options.interpreter.threadCount = 2
let detector = try ObjectDetector(modelFile: arguments[0], labelsFile: arguments[1], options: options)

let result = try detector.detect(frame)
for detection in result.detections {
  let rect = detection.rect
  print(
    detection.category.name, detection.score, "at", Int(rect.x), Int(rect.y), "size", Int(rect.width),
    Int(rect.height))
}
print("inference took", result.timings.inference)
