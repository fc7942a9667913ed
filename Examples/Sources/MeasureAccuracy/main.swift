// SPDX-License-Identifier: Apache-2.0

// Measures a detector on pictures whose objects are known, and a classifier on pictures whose classes are.
import ApusImages
import ApusVision

let truth = try COCOTruth(contentsOfFile: "References/squares.json")
// The mean average precision needs doubtful detections, too.
var options = ObjectDetector.Options()
options.scoreThreshold = 0.001
let detector = try ObjectDetector(modelFile: "Models/squares-yolo.tflite", options: options)
let categories = Dictionary(uniqueKeysWithValues: truth.categories.map { ($0.name, $0.id) })
var accuracy = DetectionAccuracy(categories: truth.categories.map(\.id))
for image in truth.images {
  let found = try detector.detect(ImageBuffer(contentsOfFile: "Pictures/\(image.fileName)")).detections
  try accuracy.add(
    image: image.id, truths: truth.truths(ofImage: image.id),
    findings: found.compactMap { detection in
      guard let category = categories[detection.category.name] else { return nil }
      return .init(category: category, box: .init(detection.rect), score: Double(detection.score))
    })
}
print("mAP@[.5:.95]", accuracy.summary.ap ?? 0, "mAP@.5", accuracy.summary.ap50 ?? 0)

let classifier = try ImageClassifier(modelFile: "Models/color-classifier.tflite")
var classes = ClassificationAccuracy()
for (file, label) in [("sunset.png", "warm"), ("squares.png", "grey")] {
  let found = try classifier.classify(ImageBuffer(contentsOfFile: "Pictures/\(file)")).categories
  guard let index = classifier.labels?.indices(named: label).first else { continue }
  classes.add(ranking: found.map(\.index), truth: index)
}
print("top-1", classes.top1 ?? 0, "of", classes.itemCount)
