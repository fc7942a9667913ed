// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision

extension WatchTask {
  func classifyFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
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
    return Finder(classifier) { picture, _ throws(ApusError) in
      let result = try classifier.classify(picture, in: region)
      return WatchFinding(
        result: result,
        text: Self.text(result), timings: result.timings
      ) { picture throws(ApusError) in
        try picture.drawing(categories: result.categories)
      }
    }
  }

  /// The best classes, of several heads behind the name of each.
  private static func text(_ result: ClassificationResult) -> String {
    result.classifications.map { head in
      (result.classifications.count > 1 ? "\(head.headName): " : "")
        + head.categories.map { "\($0.name) \(decimal(Double($0.score), 4))" }.joined(separator: ", ")
    }.joined(separator: "; ")
  }
}
