// SPDX-License-Identifier: Apache-2.0

// Names the class of every pixel: SegmentColors [MODEL PICTURE]
import ApusImages
import ApusShapes
import ApusVision

let paths = Array(CommandLine.arguments.dropFirst())
let segmenter = try ImageSegmenter(modelFile: paths.count == 2 ? paths[0] : "Models/colors.tflite")
let picture =
  try paths.count == 2
  ? ImageBuffer(contentsOfFile: paths[1]) : ImageBuffer(decoding: EmbeddedShapes.pictureBytes)

let segments = try segmenter.segment(picture)
for found in segments.classes {
  print(found.label ?? "class \(found.index)", found.share)
}
try picture.drawing(segmentation: segments).write(toFile: "segments.png")
