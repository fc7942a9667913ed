// SPDX-License-Identifier: Apache-2.0

// Finds objects before a camera, always in its newest frame; without one, in a test pattern: CameraInTenLines [SOURCE]
import ApusShapes
import ApusVideo
import ApusVision

@main
struct CameraInTenLines {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    var answered = 0

    let source = try VideoSource(arguments.first ?? "test:testsrc2:640x480:2")
    let detector = try ObjectDetector.shapes()
    for try await frame in source {
      let result = try await detector.detect(frame.picture())
      answered += 1
      for object in result.detections { print(frame.number, object.category.name, object.rect) }
    }
    let statistics = source.statistics
    print("\(statistics.arrived) frames, \(answered) with results, \(statistics.dropped) dropped")
  }
}
