// SPDX-License-Identifier: Apache-2.0

// Makes a picture of a picture: TransformAPicture [MODEL PICTURE]
import ApusImages
import ApusShapes
import ApusVision

let paths = Array(CommandLine.arguments.dropFirst())
let picture =
  try paths.count == 2
  ? ImageBuffer(contentsOfFile: paths[1]) : ImageBuffer(decoding: EmbeddedShapes.pictureBytes)

var options = PictureTransformer.Options()
options.fitsOutput = true  // the picture's size, not the output's
let transformer = try PictureTransformer(
  modelFile: paths.count == 2 ? paths[0] : "Models/sepia.tflite", options: options)

let made = try transformer.transform(picture)
print(
  made.isPicture ? "a picture" : "numbers from \(made.minimum) to \(made.maximum)", made.width, "×",
  made.height)
try made.picture.write(toFile: "transformed.png")

for reading in transformer.assumptions.readings where reading.source == .guess {
  print("a guess:", reading.subject, reading.value)
}
