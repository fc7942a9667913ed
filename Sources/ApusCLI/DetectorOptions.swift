// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusShapes
import ApusVision
import ArgumentParser

/// The options of a detector.
struct DetectorOptions: ParsableArguments {
  @OptionGroup var categories: CategoryOptions

  @Option(
    name: .long,
    help:
      "The minimum score; of 'apus detect' by default that of the model's metadata, or else 0.5, for YOLO above 0.25."
  )
  var scoreThreshold: Float?

  @Option(
    name: .long,
    help: "The maximum number of results; of 'apus detect' 300 by default, for SSD and EfficientDet 10.")
  var maxResults: Int?

  @Option(
    name: .long,
    help: "The overlap above which the better of two boxes stays; of 'apus detect' 0.45 by default.")
  var iouThreshold: Float?

  @Flag(help: "Let boxes of different classes suppress each other.")
  var classAgnostic = false

  @Flag(help: "Let one box have several classes.")
  var multiLabel = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The kind of model: \(DetectorLayout.names); recognized by default.",
      valueName: "layout"))
  var layout: DetectorLayout?

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var units: BoxUnitOptions

  @OptionGroup var order: BoxOrderOptions

  @OptionGroup var anchors: AnchorOptions

  /// A detector of the model in a file, or of the embedded one.
  func detector(_ file: String?, _ input: ModelInputOptions, pictures count: Int) throws -> ObjectDetector {
    var options = ObjectDetector.Options(baseOptions: try input.baseOptions(pictures: count))
    options.scores = scores.scores
    options.boxUnits = units.boxUnits
    options.candidates = units.candidates
    options.resultOptions = categories.resultOptions
    options.scoreThreshold = scoreThreshold
    options.maxResults = maxResults
    if let iouThreshold { options.maximumOverlap = iouThreshold }
    options.isClassAgnostic = classAgnostic
    options.isMultiLabel = multiLabel
    options.layout = layout
    options.boxOrder = order.boxOrder
    options.anchors = try anchors.sizes
    let labels = try categories.labelMap
    guard let file else {
      let detector = try ObjectDetector.shapes(labels: labels, options: options)
      try categories.check(detector.labels)
      return detector
    }
    let detector = try ObjectDetector(
      model: try Model(contentsOfFile: file), labels: labels, options: options)
    try categories.check(detector.labels)
    return detector
  }
}

extension DetectorLayout: ExpressibleByArgument {}
