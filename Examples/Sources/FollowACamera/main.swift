// SPDX-License-Identifier: Apache-2.0

// Classifies the newest frame of a camera, such as /dev/video0, or of another source: FollowACamera MODEL LABELS SOURCE
import ApusVideo
import ApusVision

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3 else { fatalError("usage: FollowACamera MODEL LABELS SOURCE") }
let frames = try VideoSource(arguments[2])

// The model is read, checked and prepared once, and used for every frame.
let classifier = try ImageClassifier(modelFile: arguments[0], labelsFile: arguments[1])
let camera = LatestFrames(classifier, deadline: .seconds(2))

let source = Task.detached {
  defer { camera.finish() }
  for try await frame in frames {
    camera.submit(frame.picture(), at: frame.time)  // returns at once, also when there is no time for it
  }
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
