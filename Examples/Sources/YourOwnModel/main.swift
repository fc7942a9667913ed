// SPDX-License-Identifier: Apache-2.0

// A model that no task knows, on a picture: pixels into its input, and its answer back onto the picture.
import Apus
import ApusImages
import ApusVision

let interpreter = try Interpreter(model: Model(contentsOfFile: "Models/squares-yolo.tflite"))
let picture = try ImageBuffer(contentsOfFile: "Pictures/squares.png")

let shape = interpreter.inputs[0].shape  // 1 × height × width × 3
let processor = try ImageProcessor(width: shape[2], height: shape[1], fit: .letterbox())
let transform = try interpreter.withInput(at: 0, as: Float.self) { input in
  try processor.fill(&input, from: picture, normalization: .unit)
}
try interpreter.invoke()

let output = try interpreter.dequantizedOutput(at: 0)
let count = interpreter.outputs[0].shape[2]
func value(_ row: Int, _ candidate: Int) -> Float { output[row * count + candidate] }
var best = 0
for candidate in 0..<count where value(4, candidate) > value(4, best) { best = candidate }

// Rows 0 to 3 are the center and the size of a box in pixels of the input, rows from 4 the scores of classes.
let (x, y, width, height) = (value(0, best), value(1, best), value(2, best), value(3, best))
let (left, top) = (x - width / 2, y - height / 2)
let side = (x: Float(processor.width), y: Float(processor.height))
let box = BoundingBox(
  minX: left / side.x, minY: top / side.y, maxX: (left + width) / side.x, maxY: (top + height) / side.y)
let rect = transform.imageRect(ofModelBox: box)
print(
  "from", rect.x.rounded(), rect.y.rounded(), "to", rect.maxX.rounded(), rect.maxY.rounded(), "score",
  value(4, best))
