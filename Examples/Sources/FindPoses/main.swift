// SPDX-License-Identifier: Apache-2.0

// Finds the joints of people: FindPoses [MODEL PICTURE]
import ApusImages
import ApusVision

let paths = Array(CommandLine.arguments.dropFirst())
let (modelFile, pictureFile) =
  paths.count == 2 ? (paths[0], paths[1]) : ("Models/marked-joints.tflite", "Pictures/figure.png")

let detector = try KeypointDetector(modelFile: modelFile)
let picture = try ImageBuffer(contentsOfFile: pictureFile)
let poses = try detector.detect(picture).poses
for pose in poses {
  for point in pose.keypoints where (point.score ?? 1) >= 0.3 {
    print(point.name ?? "point", Int(point.x.rounded()), Int(point.y.rounded()))
  }
}
try picture.drawing(poses: poses).write(toFile: "poses.png")
