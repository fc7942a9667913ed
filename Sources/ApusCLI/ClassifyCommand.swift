// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus classify`: the best classes of pictures.
struct ClassifyCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "classify", abstract: "Classifies pictures.",
    discussion: """
      For example:
        apus classify bird.jpg --model mobilenet.tflite --labels labels.txt --top 3
        apus classify photos --model flowers.tflite --decide 0.8 --json
      """)

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "The .tflite classifier.")
  var model: String

  @OptionGroup var categories: CategoryOptions

  @Option(name: .long, help: "The maximum number of classes per picture.")
  var top = 5

  @Option(name: .long, help: "The minimum score of a class.")
  var scoreThreshold: Float?

  @Option(name: .long, help: "Decide: the best class if it has this score, otherwise not sure or nothing.")
  var decide: Float?

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var input: ModelInputOptions

  func validate() throws {
    guard top >= 1 else { throw ValidationError("--top is \(top), not 1 or more") }
    if let decide, !(0...1).contains(decide) {
      throw ValidationError("--decide is \(decide), not a probability of 0 to 1")
    }
  }

  func run() throws {
    let sources = try pictures.sources()
    let files = try annotation.files(for: sources)
    let region = try input.regionRect
    var options = ImageClassifier.Options(baseOptions: try input.baseOptions(pictures: sources.count))
    options.scores = scores.scores
    options.resultOptions = categories.resultOptions
    options.maxResults = top
    options.scoreThreshold = scoreThreshold
    options.decisionThreshold = decide
    let classifier = try ImageClassifier(
      model: Model(contentsOfFile: model), labels: categories.labelMap, options: options)
    try categories.check(classifier.labels)
    try PictureRunner(
      sources: sources, options: pictures, annotations: files, annotationFolder: annotation.annotateDir,
      reduction: input.reduction(for: classifier),
      warnings: TaskWarnings { classifier.assumptions.warnings }, isUndecided: { classifier.isUndecided },
      answer: { image, _ throws(ApusError) in try classifier.classify(image, in: region) }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(categories: result.categories) }
    ).run()
  }

  private static func text(_ result: ClassificationResult) -> String {
    result.classifications.map { head in
      var rows = [["class", "score"]]
      rows += head.categories.map { [$0.name, decimal(Double($0.score), 4)] }
      var title = result.classifications.count > 1 ? "\(head.headName), " : ""
      if let threshold = result.decisionThreshold { title += "\(head.decision(threshold: threshold).text), " }
      title += "\(head.categories.count) \(head.categories.count == 1 ? "class" : "classes")"
      title = oneLine(title)
      return head.categories.isEmpty ? title : title + "\n" + table(rows, rightAligned: [1])
    }.joined(separator: "\n")
  }
}
