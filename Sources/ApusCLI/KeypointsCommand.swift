// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus keypoints`: the joints of people.
struct KeypointsCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "keypoints", abstract: "Finds the joints of people in pictures.",
    discussion: """
      For example:
        apus keypoints dancer.jpg --model movenet.tflite --annotate pose.png
        apus keypoints photos --model yolo11n-pose.tflite --json
      """)

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "The .tflite model: MoveNet, PoseNet or YOLO pose.")
  var model: String

  @Option(
    name: .long,
    help:
      "The minimum score of a pose, and of a point that is drawn. MoveNet's single pose is printed in any case."
  )
  var scoreThreshold: Float = 0.3

  @Option(
    name: .long,
    help: "The intersection over union above which the better of two poses of a YOLO model stays."
  )
  var iouThreshold: Float = 0.45

  @Option(name: .long, help: "The maximum number of poses; by default all.")
  var maxResults: Int?

  @Option(
    name: .long,
    help: "The kind of a YOLO model: yolo5, yolo8, yolo10-raw or yolo-end-to-end; recognized by default.")
  var layout: DetectorLayout?

  @OptionGroup var pose: PoseOptions

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var units: BoxUnitOptions

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: ModelInputOptions

  func run() throws {
    let sources = try pictures.sources()
    let files = try annotation.files(for: sources)
    let region = try input.regionRect
    var options = KeypointDetector.Options(baseOptions: try input.baseOptions(pictures: sources.count))
    options.scores = scores.scores
    options.boxUnits = units.boxUnits
    options.candidates = units.candidates
    options.scoreThreshold = scoreThreshold
    options.maximumOverlap = iouThreshold
    options.maxResults = maxResults
    options.layout = layout
    options.keypoints = try pose.shape
    let detector = try KeypointDetector(model: Model(contentsOfFile: model), options: options)
    let threshold = scoreThreshold
    try PictureRunner(
      sources: sources, options: pictures, annotations: files, annotationFolder: annotation.annotateDir,
      reduction: input.reduction(for: detector),
      warnings: TaskWarnings { detector.assumptions.warnings }, isUndecided: { detector.isUndecided },
      answer: { image, _ throws(ApusError) in try detector.detect(image, in: region) }, text: Self.text,
      draw: { image, result throws(ApusError) in
        try image.drawing(poses: result.poses, keypointThreshold: threshold)
      }
    ).run()
  }

  private static func text(_ result: KeypointResult) -> String {
    var lines = ["\(result.poses.count) \(result.poses.count == 1 ? "pose" : "poses")"]
    for pose in result.poses {
      lines.append("pose, score \(decimal(Double(pose.score), 3))")
      var rows = [["  point", "x", "y", "score"]]
      rows += pose.keypoints.enumerated().map { index, point in
        [
          "  " + (point.name ?? "\(index)"), decimal(Double(point.x), 1), decimal(Double(point.y), 1),
          decimal(point.score.map(Double.init), 3),
        ]
      }
      lines.append(table(rows, rightAligned: [1, 2, 3]))
    }
    return lines.joined(separator: "\n")
  }
}
