// SPDX-License-Identifier: Apache-2.0

// Counts who goes through a door, in a film that it makes first: a square that walks from left to right and back.
import ApusShapes
import ApusTracking
import ApusVideo
import ApusVision
import Foundation

@main
struct CountAtADoor {
  static func main() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "apus-door.mp4").path
    let film = try VideoWriter(path, width: 320, height: 240, frameRate: 10)
    for number in 0..<60 {
      let left = Int(120 - 120 * cos(Double(number) * .pi / 30))
      var bytes = [UInt8](repeating: 255, count: 3 * 320 * 240)
      for y in 80..<160 {
        for x in left..<(left + 80) {
          bytes.replaceSubrange(3 * (320 * y + x)..<3 * (320 * y + x) + 2, with: [0, 0])
        }
      }
      try await film.append(ImageBuffer(bytes: bytes, width: 320, height: 240, format: .rgb))
    }
    try await film.finish()

    let source = try VideoSource(path)
    let detector = try ObjectDetector.shapes()
    var tracker = try ObjectTracker()
    var door = try LineCounter(
      from: TrackingPoint(x: 160, y: 0), to: TrackingPoint(x: 160, y: 240), minimumCrossingFrames: 2)
    for try await frame in source {
      let detections = try await detector.detect(frame.picture()).detections
      let tracks = try tracker.update(detections, at: frame.time)
      for crossing in door.update(tracks) { print("\(crossing.trackID) \(crossing.direction.rawValue)") }
    }
    print("in \(door.inCount), out \(door.outCount)")
  }
}
