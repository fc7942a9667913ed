// SPDX-License-Identifier: Apache-2.0

// Uses a bundled model until a newer one arrives: UpdateAModel BUNDLED NEWER SHA256 METADATA LABELS PICTURE
import Apus
import ApusImages
import ApusVision
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 6 else { fatalError("six arguments are needed, not \(arguments.count)") }
let labels = try LabelMap(contentsOfFile: arguments[4])

let store = try ModelStore(folder: ".build/models", name: "objects", bundledFile: arguments[0])
let states = store.states
let watcher = Task {
  for await state in states {
    print("state:", state)
    if case .ready(version: "2") = state { break }
  }
}

// The file beside a model says what it should be; what a program needs, it asks the model.
let bundled = try store.model()
try EdgeModelMetadata(contentsOfFile: arguments[3]).check(bundled)
try show(ObjectDetector(model: bundled, labels: labels))

try await store.update(to: "2", sha256: arguments[2]) { download in
  // A program downloads here; this one copies.
  try FileManager.default.copyItem(atPath: arguments[1], toPath: download.path)
  download.report(1)
}
await watcher.value
try show(ObjectDetector(model: store.model(), labels: labels))

func show(_ detector: ObjectDetector) throws {
  let picture = try ImageBuffer(contentsOfFile: arguments[5])
  for detection in try detector.detect(picture).detections where detection.score > 0.5 {
    print("object found:", detection.category.name, detection.score)
  }
}
