// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusShapes
import ApusVision
import Foundation
import TestSupport
import Testing

/// The task of the guide *Adding a task*: finds objects, and names what is in the box of each.
private struct ObjectNamer: VisionTask {
  struct Answer: VisionResult {
    let imageWidth: Int
    let imageHeight: Int
    var objects: [NamedObject] = []
    var timings: StageTimings
  }

  struct NamedObject: Encodable {
    let name: String
    let box: PixelRect
  }

  let detector: ObjectDetector
  let classifier: ImageClassifier

  var assumptions: TaskAssumptions { classifier.assumptions }
  var imageReduction: ImageReduction { .none }

  func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) throws(ApusError)
    -> Answer
  {
    let found = try detector.detect(image, in: region, cancellation: cancellation)
    var answer = Answer(
      imageWidth: found.imageWidth, imageHeight: found.imageHeight, timings: found.timings)
    for detection in found.detections {
      // A box may lie outside of the picture, or be smaller than a pixel.
      let seen = detection.rect.clamped(width: found.imageWidth, height: found.imageHeight)
      guard seen.width >= 1, seen.height >= 1 else { continue }
      let named = try classifier.classify(image, in: seen, cancellation: cancellation)
      answer.timings += named.timings
      let name = named.categories.first?.label ?? "unknown"
      answer.objects.append(NamedObject(name: name, box: detection.rect))
    }
    return answer
  }
}

/// The promises of the guide *Adding a task* for any task.
@Suite(.timeLimit(.minutes(1))) struct AddingATaskTests {
  private func namer() throws -> ObjectNamer {
    let model = try DetectorModel.answering([.rows([0.1, 0.7, 0.2])]).model()
    return ObjectNamer(
      detector: try ObjectDetector.shapes(),
      classifier: try ImageClassifier(model: model, labels: LabelMap(["red", "green", "blue"], offset: 0)))
  }

  @Test("each object has the name that the second model gives to its box")
  func namesObjects() throws {
    let (task, picture) = (try namer(), try ImageBuffer(decoding: EmbeddedShapes.pictureBytes))
    let answer = try task.answer(picture, in: nil, cancellation: nil)
    let boxes = try task.detector.detect(picture).detections.map(\.rect)
    #expect(!boxes.isEmpty && answer.objects.map(\.box) == boxes)
    #expect(Set(answer.objects.map(\.name)) == ["green"])
    #expect(answer.imageWidth == picture.width && answer.timings.inference > .zero)
    #expect(
      try task.answers([picture, picture], cancellation: nil).map(\.objects.count) == [
        boxes.count, boxes.count,
      ])
  }

  @Test("frames of a camera go to the task, and a flag stops it")
  func followsCameras() async throws {
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    let camera = LatestFrames(try namer())
    var results = camera.results.makeAsyncIterator()
    camera.submit(picture)
    let first = try #require(await results.next())
    #expect(try !first.answer.get().objects.isEmpty)
    let cancellation = Cancellation()
    cancellation.cancel()
    let error = #expect(throws: ApusError.self) {
      try namer().answer(picture, in: nil, cancellation: cancellation)
    }
    #expect(error?.code == .cancelled)
  }
}
