// SPDX-License-Identifier: Apache-2.0

// The README's ten lines: TenLines
import ApusImages
import ApusVision

do {
  let detector = try ObjectDetector(modelFile: "Models/squares-yolo.tflite")
  let picture = try ImageBuffer(contentsOfFile: "Pictures/squares.png")
  let detections = try detector.detect(picture).detections
  for detection in detections { print(detection.category.name, detection.score, detection.rect) }
  try picture.drawing(detections).write(toFile: "found.png")
} catch {
  print("error: \(error)")
}
