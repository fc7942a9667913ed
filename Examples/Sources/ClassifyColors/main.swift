// SPDX-License-Identifier: Apache-2.0

// Names the best class of a picture, or says that it is not sure: ClassifyColors [MODEL PICTURE]
import ApusImages
import ApusVision

let paths = Array(CommandLine.arguments.dropFirst())
let (modelFile, pictureFile) =
  paths.count == 2 ? (paths[0], paths[1]) : ("Models/color-classifier.tflite", "Pictures/sunset.png")

var options = ImageClassifier.Options()
options.maxResults = 3
let classifier = try ImageClassifier(modelFile: modelFile, options: options)

let picture = try ImageBuffer(contentsOfFile: pictureFile)
let result = try classifier.classify(picture)
for category in result.categories {
  print(category.name, category.score)
}
switch result.classifications[0].decision(threshold: 0.5) {
case .category(let best): print("It is \(best.name).")
case .notSure: print("Not sure.")
case .nothing: print("There are no classes.")
}
try picture.drawing(categories: result.categories).write(toFile: "classes.png")
