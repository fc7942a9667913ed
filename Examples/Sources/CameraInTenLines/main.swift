// SPDX-License-Identifier: Apache-2.0

// Finds objects before a camera, always in its newest frame; without one, in a test pattern: CameraInTenLines [SOURCE]
import ApusShapes
import ApusVideo
import ApusVision

let arguments = Array(CommandLine.arguments.dropFirst())
var answered = 0

let source = try VideoSource(arguments.first ?? "test:testsrc2:640x480:2")
let detector = try ObjectDetector.shapes()
for try await frame in source {
  let result = try detector.detect(frame.picture())
  answered += 1
  for object in result.detections { print(frame.number, object.category.name, object.rect) }
}
print("\(source.statistics.arrived) frames, \(answered) with results, \(source.statistics.dropped) dropped")
