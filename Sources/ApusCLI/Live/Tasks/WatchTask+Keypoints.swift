// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision

extension WatchTask {
  func keypointsFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = KeypointDetector.Options(
      baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    options.boxUnits = choices.units.boxUnits
    options.candidates = choices.units.candidates
    options.scoreThreshold = choices.scoreThreshold ?? options.scoreThreshold
    options.maximumOverlap = choices.iouThreshold ?? options.maximumOverlap
    options.maxResults = choices.maxResults
    options.layout = choices.layout
    options.keypoints = try command.pose.shape
    let threshold = options.scoreThreshold
    let detector = try KeypointDetector(model: Model(contentsOfFile: file), options: options)
    return Finder(detector) { picture, _ throws(ApusError) in
      let result = try detector.detect(picture, in: region)
      // MoveNet reports its single pose whatever its score, also in an empty picture.
      let poses = result.poses.filter { $0.score >= threshold }
      let detections = poses.compactMap { pose in
        Self.detection(pose, threshold, width: result.imageWidth, height: result.imageHeight)
      }
      return WatchFinding(detections: detections, timings: result.timings) { picture throws(ApusError) in
        try picture.drawing(poses: poses, keypointThreshold: threshold)
      }
    }
  }

  /// A pose as an object with the label `pose`: its box spans the points that are sure enough, or all of them if these span none; nil for a
  /// pose whose points do not differ in both directions.
  private static func detection(_ pose: Pose, _ threshold: Float, width: Int, height: Int) -> Detection? {
    let points = pose.keypoints.filter { $0.x.isFinite && $0.y.isFinite }
    guard let box = box(points.filter { $0.score.map { $0 >= threshold } ?? true }) ?? box(points) else {
      return nil
    }
    let (width, height) = (Float(width), Float(height))
    return Detection(
      category: Category(index: 0, score: pose.score, label: "pose"),
      boundingBox: BoundingBox(
        minX: box.x / width, minY: box.y / height, maxX: (box.x + box.width) / width,
        maxY: (box.y + box.height) / height),
      rect: box, keypoints: pose.keypoints)
  }

  /// The box that points span; nil if it has no area.
  private static func box(_ points: [Keypoint]) -> PixelRect? {
    guard let left = points.map(\.x).min(), let right = points.map(\.x).max(), left < right,
      let top = points.map(\.y).min(), let bottom = points.map(\.y).max(), top < bottom
    else { return nil }
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }
}
