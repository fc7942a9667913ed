// SPDX-License-Identifier: Apache-2.0

// Finds objects with a YOLO model: DetectWithYOLO [MODEL PICTURE]
import ApusImages
import ApusVision

let paths = Array(CommandLine.arguments.dropFirst())
let (modelFile, pictureFile) =
  paths.count == 2 ? (paths[0], paths[1]) : ("Models/squares-yolo.tflite", "Pictures/squares.png")

let detector = try ObjectDetector(modelFile: modelFile)
print(detector.layout.rawValue, "because", detector.assumptions.reason)

let picture = try ImageBuffer(contentsOfFile: pictureFile)
let detections = try detector.detect(picture).detections
for detection in detections {
  print(detection.category.name, detection.score, detection.rect)
}
try picture.drawing(detections).write(toFile: "yolo.png")

var options = ObjectDetector.Options()
options.layout = .yolo8
options.scoreThreshold = 0.9
options.maximumOverlap = 0.6
options.isClassAgnostic = true
options.categoryAllowlist = ["red", "blue"]
let strict = try ObjectDetector(modelFile: modelFile, options: options)
print(try strict.detect(picture).detections.count, "red and blue ones")
