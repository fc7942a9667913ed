// SPDX-License-Identifier: Apache-2.0

// Looks at every frame of a film, and writes another with what it found drawn: FollowAFile [FILM OUTPUT]
import ApusImages
import ApusShapes
import ApusVideo
import ApusVision
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
let output = FileManager.default.temporaryDirectory.appending(path: "apus-found.mp4").path
let source = try VideoSource(arguments.first ?? "test:smptebars:320x240:3")
let detector = try ObjectDetector.shapes()
var writer: VideoWriter?
var count = 0

for try await frame in source {
  let picture = frame.picture()
  let result = try detector.detect(picture)
  let film = try writer ?? VideoWriter(arguments.last ?? output, width: picture.width, height: picture.height)
  try await film.append(picture.drawing(result.detections), at: frame.time)
  writer = film
  count += 1
}
try await writer?.finish()

print("\(count) frames written")
