// SPDX-License-Identifier: Apache-2.0

// Finds shapes in a picture that shows them only after filters: RevealShapes [PICTURE]
import ApusImages
import ApusShapes
import ApusVision

let path = CommandLine.arguments.dropFirst().first ?? "Pictures/hidden.png"

let reveal: FilterChain = [
  .prewitt(strength: 0.7), .closing(radius: 1), .inversion, .gaussianBlur(radius: 1), .erosion(radius: 1),
]
let detector = try ObjectDetector.shapes()
let picture = try ImageBuffer(contentsOfFile: path)
print("as it is:", try detector.detect(picture).detections.count, "shapes")

let revealed = try reveal.apply(picture)
let detections = try detector.detect(revealed).detections
print("filtered:", detections.count, "shapes")
for detection in detections {
  let pixels = Int(detection.rect.width * detection.rect.height)
  print(detection.category.name, "of", pixels, "pixels, score", detection.score)
}
try revealed.drawing(detections).write(toFile: "revealed.png")
