// SPDX-License-Identifier: Apache-2.0

// Looks at every frame of a film, and writes another with what it found drawn: FollowAFile [FILM OUTPUT]
import ApusImages
import ApusShapes
import ApusVideo
import ApusVision
import Foundation

@main
struct FollowAFile {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let output =
      arguments.count > 1
      ? arguments[1] : FileManager.default.temporaryDirectory.appending(path: "apus-found.mp4").path
    let source = try VideoSource(arguments.first ?? "test:smptebars:320x240:3")
    let detector = try ObjectDetector.shapes()
    var writer: VideoWriter?
    var count = 0

    for try await frame in source {
      let picture = frame.picture()
      let result = try await detector.detect(picture)
      let film = try writer ?? VideoWriter(output, width: picture.width, height: picture.height)
      try await film.append(picture.drawing(result.detections), at: frame.time)
      writer = film
      count += 1
    }
    try await writer?.finish()

    print("\(count) frames written")
  }
}
