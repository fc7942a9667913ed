// SPDX-License-Identifier: Apache-2.0

// Finds shapes in a picture, with the model and the picture that are part of the library, and draws what it found.
import ApusImages
import ApusShapes
import ApusVision

let detector = try ObjectDetector.shapes()
let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
let detections = try detector.detect(picture).detections
for detection in detections {
  print(detection.category.name, detection.score, detection.rect)
}
try picture.drawing(detections).write(toFile: "detections.png")
