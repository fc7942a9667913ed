// SPDX-License-Identifier: Apache-2.0

// Finds objects, and says how the model was understood: TuneADetector [MODEL PICTURE]
import Apus
import ApusImages
import ApusShapes
import ApusVision

let paths = Array(CommandLine.arguments.dropFirst())
let usesFiles = paths.count == 2
let model = try usesFiles ? Model(contentsOfFile: paths[0]) : Model(bytes: EmbeddedShapes.modelBytes)
let labels = usesFiles ? nil : LabelMap(EmbeddedShapes.labels)
let picture =
  try usesFiles ? ImageBuffer(contentsOfFile: paths[1]) : ImageBuffer(decoding: EmbeddedShapes.pictureBytes)

var options = ObjectDetector.Options()
options.scoreThreshold = 0.6
options.maxResults = 5
options.interpreter.threadCount = 2
let detector = try ObjectDetector(model: model, labels: labels, options: options)

let result = try detector.detect(picture)
for detection in result.detections {
  print(detection.category.name, detection.score, detection.rect)
}

let left = PixelRect(x: 0, y: 0, width: 320, height: 480)
print(try detector.detect(picture, in: left).detections.count, "in the left half")

print(detector.assumptions.kind, "because", detector.assumptions.reason)
for reading in detector.assumptions.readings { print(reading.subject, reading.value, reading.source.text) }
for step in detector.assumptions.steps { print("-", step) }
for warning in detector.assumptions.warnings { print("warning:", warning) }
