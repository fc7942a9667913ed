// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// What `apus watch` looks for.
enum WatchTask: String, CaseIterable, ExpressibleByArgument {
  case detect, faces

  /// Finds objects in a picture.
  typealias Finder = (ImageBuffer) throws(ApusError) -> (detections: [Detection], timings: StageTimings)

  /// A function that finds objects with the model in a file.
  ///
  /// - Throws: If the model cannot be read, or does not do the task.
  func finder(_ file: String?, _ options: DetectorOptions, _ input: ModelInputOptions) throws -> Finder {
    let region = try input.regionRect
    // The frames of a source have no end; what is limited by their number is limited as for two.
    switch self {
    case .detect:
      let detector = try options.detector(file, input, pictures: 2)
      return { picture throws(ApusError) in
        let result = try detector.detect(picture, in: region)
        return (result.detections, result.timings)
      }
    case .faces:
      guard let file else { throw ApusError(.invalidArgument, "--task faces needs a --model") }
      var settings = FaceDetector.Options(baseOptions: try input.baseOptions(pictures: 2))
      settings.scores = options.scores.scores
      settings.minDetectionConfidence = options.scoreThreshold ?? settings.minDetectionConfidence
      settings.maxResults = options.maxResults
      let detector = try FaceDetector(model: Model(contentsOfFile: file), options: settings)
      return { picture throws(ApusError) in
        let result = try detector.detect(picture, in: region)
        return (result.faces.map(Self.detection), result.timings)
      }
    }
  }

  /// A face as an object with the label `face`.
  private static func detection(_ face: Face) -> Detection {
    Detection(
      category: Category(index: 0, score: face.score, label: "face"), boundingBox: face.boundingBox,
      rect: face.rect, keypoints: face.keypoints)
  }
}
