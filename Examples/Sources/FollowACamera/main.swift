// SPDX-License-Identifier: Apache-2.0

// Classifies the newest frame of a camera, for which the pictures of a folder stand: FollowACamera MODEL LABELS FOLDER
import ApusImages
import ApusVision
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3 else { fatalError("usage: FollowACamera MODEL LABELS FOLDER") }
let paths = try FileManager.default.contentsOfDirectory(atPath: arguments[2]).sorted()
let frames = try paths.map { try ImageBuffer(contentsOfFile: "\(arguments[2])/\($0)") }

// The model is read, checked and prepared once, and used for every frame.
let classifier = try ImageClassifier(modelFile: arguments[0], labelsFile: arguments[1])
let camera = LatestFrames(classifier, deadline: .seconds(2))

let source = Task.detached {
  for _ in 0..<10 {
    for frame in frames {
      camera.submit(frame)  // returns at once, whether there is time for the frame or not
      try await Task.sleep(for: .milliseconds(2))
    }
  }
  camera.finish()
}

var last: FrameResult<ClassificationResult>?
for await result in camera.results { last = result }
try await source.value

if let last, let best = try last.answer.get().categories.first {
  print(
    "frame \(last.number): \(best.name), \(last.frame.width) × \(last.frame.height) pixels, \(last.latency)")
}
let count = camera.statistics
print("all counted:", count.submitted == count.answered + count.dropped + count.expired)
