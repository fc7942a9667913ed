// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision

extension WatchTask {
  func facesFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = FaceDetector.Options(baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    options.minDetectionConfidence = choices.scoreThreshold ?? options.minDetectionConfidence
    options.maxResults = choices.maxResults
    options.maximumOverlap = choices.iouThreshold ?? options.maximumOverlap
    let detector = try FaceDetector(model: Model(contentsOfFile: file), options: options)
    return Finder(detector) { picture, _ throws(ApusError) in
      let result = try detector.detect(picture, in: region)
      let detections = result.faces.map { face in
        Detection(
          category: Category(index: 0, score: face.score, label: "face"), boundingBox: face.boundingBox,
          rect: face.rect, keypoints: face.keypoints)
      }
      return WatchFinding(detections: detections, timings: result.timings)
    }
  }
}
