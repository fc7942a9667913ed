// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// What `apus watch` looks for.
///
/// A new task is a case, a function that makes its ``Finder``, and a line in ``finder(_:_:)``.
enum WatchTask: String, CaseIterable, ExpressibleByArgument {
  case detect, classify, faces, segment, keypoints

  /// Looks at a frame, which is shown at a time in seconds.
  typealias Finder = (_ picture: ImageBuffer, _ time: Double) throws(ApusError) -> WatchFinding

  /// Whether the task finds objects with boxes, which can be followed and counted.
  var findsObjects: Bool { self != .classify && self != .segment }

  /// Whether a model is embedded.
  var hasModel: Bool { self == .detect }

  /// A function that looks at frames with the model that the command names.
  ///
  /// - Throws: If the model cannot be read, or does not do the task.
  func finder(_ file: String?, _ command: WatchCommand) throws -> Finder {
    guard let file else { return try detectFinder(nil, command) }
    return switch self {
    case .detect: try detectFinder(file, command)
    case .classify: try classifyFinder(file, command)
    case .faces: try facesFinder(file, command)
    case .segment: try segmentFinder(file, command)
    case .keypoints: try keypointsFinder(file, command)
    }
  }

  /// How often a task's model is used, as limits count it: the frames of a source have no end, and are limited as two are.
  private static let pictures = 2

  private func detectFinder(_ file: String?, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let detector = try command.detectorOptions.detector(file, command.input, pictures: Self.pictures)
    return { picture, _ throws(ApusError) in
      let result = try detector.detect(picture, in: region)
      return WatchFinding(detections: result.detections, timings: result.timings)
    }
  }

  private func classifyFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = ImageClassifier.Options(
      baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    options.resultOptions = choices.categories.resultOptions
    options.maxResults = choices.maxResults ?? 5
    options.scoreThreshold = choices.scoreThreshold
    let classifier = try ImageClassifier(
      model: Model(contentsOfFile: file), labels: choices.categories.labelMap, options: options)
    try choices.categories.check(classifier.labels)
    return { picture, _ throws(ApusError) in
      let result = try classifier.classify(picture, in: region)
      return WatchFinding(
        result: result,
        text: result.categories.map { "\($0.name) \(decimal(Double($0.score), 4))" }.joined(separator: ", "),
        timings: result.timings
      ) { picture throws(ApusError) in
        try picture.drawing(categories: result.categories)
      }
    }
  }

  private func facesFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = FaceDetector.Options(baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    options.minDetectionConfidence = choices.scoreThreshold ?? options.minDetectionConfidence
    options.maxResults = choices.maxResults
    let detector = try FaceDetector(model: Model(contentsOfFile: file), options: options)
    return { picture, _ throws(ApusError) in
      let result = try detector.detect(picture, in: region)
      let detections = result.faces.map { face in
        Detection(
          category: Category(index: 0, score: face.score, label: "face"), boundingBox: face.boundingBox,
          rect: face.rect, keypoints: face.keypoints)
      }
      return WatchFinding(detections: detections, timings: result.timings)
    }
  }

  private func segmentFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = ImageSegmenter.Options(baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    let segmenter = VideoSegmenter(
      try ImageSegmenter(
        model: Model(contentsOfFile: file), labels: choices.categories.labelMap, options: options))
    return { picture, _ throws(ApusError) in
      let result = try segmenter.answer(picture, in: region, cancellation: nil)
      return WatchFinding(
        result: result,
        text: result.classes.map { "\($0.label ?? "class \($0.index)") \(decimal($0.share * 100, 1)) %" }
          .joined(separator: ", "), timings: result.timings
      ) { picture throws(ApusError) in
        try picture.drawing(segmentation: result)
      }
    }
  }

  private func keypointsFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = KeypointDetector.Options(
      baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    options.boxUnits = choices.units.boxUnits
    options.scoreThreshold = choices.scoreThreshold ?? options.scoreThreshold
    options.maxResults = choices.maxResults
    options.layout = choices.layout
    options.keypoints = try command.pose.shape
    let threshold = options.scoreThreshold
    let detector = try KeypointDetector(model: Model(contentsOfFile: file), options: options)
    return { picture, _ throws(ApusError) in
      let result = try detector.detect(picture, in: region)
      let detections = result.poses.compactMap { pose in
        Self.detection(pose, threshold, width: result.imageWidth, height: result.imageHeight)
      }
      return WatchFinding(detections: detections, timings: result.timings) { picture throws(ApusError) in
        try picture.drawing(poses: result.poses, keypointThreshold: threshold)
      }
    }
  }

  /// A pose as an object with the label `pose`: its box spans the points that are sure enough; nil for a pose without two of them that
  /// differ in both directions.
  private static func detection(_ pose: Pose, _ threshold: Float, width: Int, height: Int) -> Detection? {
    let points = pose.keypoints.filter { point in
      point.score.map { $0 >= threshold } ?? true && point.x.isFinite && point.y.isFinite
    }
    guard let left = points.map(\.x).min(), let right = points.map(\.x).max(), left < right,
      let top = points.map(\.y).min(), let bottom = points.map(\.y).max(), top < bottom
    else { return nil }
    let (width, height) = (Float(width), Float(height))
    return Detection(
      category: Category(index: 0, score: pose.score, label: "pose"),
      boundingBox: BoundingBox(
        minX: left / width, minY: top / height, maxX: right / width, maxY: bottom / height),
      rect: PixelRect(x: left, y: top, width: right - left, height: bottom - top), keypoints: pose.keypoints)
  }
}
