// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Classifies pictures: finds the best of a model's classes.
///
/// ```swift
/// let classifier = try ImageClassifier(modelFile: "mobilenet.tflite", labelsFile: "labels.txt")
/// let best = try classifier.classify(picture).categories.prefix(3)
/// ```
///
/// Every output is a head: one score for each class, as the model gives it. Any number of threads can share a classifier.
/// threads.
public final class ImageClassifier: VisionTask {
  /// How to classify.
  @dynamicMemberLookup
  public struct Options: Sendable {
    /// How pictures reach the model, and how it runs. Its members are also members of these options.
    public var baseOptions = BaseOptions()
    /// The minimum score of a class, inclusive; nil for all classes.
    public var scoreThreshold: Float?
    /// The maximum number of classes per head; nil for all.
    public var maxResults: Int?
    /// The only labels to report; empty for all. Cannot be combined with ``categoryDenylist``.
    public var categoryAllowlist: [String] = []
    /// The labels to leave out. Cannot be combined with ``categoryAllowlist``.
    public var categoryDenylist: [String] = []
    /// The language of display names, such as `en` or `de-CH`, if the metadata has them; nil for none.
    public var displayNamesLocale: String?
    /// How many label rows precede class 0; nil to detect it.
    public var labelOffset: Int?
    /// The threshold of the ``Classifications/decision(threshold:)`` in encoded results; nil for none.
    public var decisionThreshold: Float?

    /// Makes the default options.
    public init() {}

    /// The options that all tasks have.
    public subscript<Value>(dynamicMember path: WritableKeyPath<BaseOptions, Value>) -> Value {
      get { baseOptions[keyPath: path] }
      set { baseOptions[keyPath: path] = newValue }
    }
  }

  /// One output with a score for each class.
  private struct Head: Sendable {
    let output: Int
    let name: String
    let classes: Int
    let labels: LabelSource?
    let selection: CategorySelection
    let calibration: ScoreCalibration?
  }

  /// The options, as given.
  public let options: Options
  /// What the task assumes about the model.
  public let assumptions: TaskAssumptions

  private let pictures: PictureModel
  private let heads: [Head]

  /// Makes a classifier.
  ///
  /// - Parameters:
  ///   - model: The model: one picture in, one score for each class out.
  ///   - labels: The names of the classes; nil for the labels inside the model.
  ///   - options: How to classify.
  /// - Throws: `invalidArgument` if the options contradict each other or the model is not a classifier; errors of
  ///   `Apus.Interpreter`.
  public init(model: Model, labels: LabelMap? = nil, options: Options = Options()) throws(ApusError) {
    if let threshold = options.scoreThreshold, threshold.isNaN {
      throw ApusError(.invalidArgument, "the score threshold is not a number")
    }
    if let maxResults = options.maxResults, maxResults < 1 {
      throw ApusError(.invalidArgument, "maxResults is \(maxResults), not 1 or more")
    }
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    heads = try Self.heads(prepared, labels, options)
    pictures = try PictureModel(prepared, defaults: PictureDefaults())
    var steps = heads.compactMap { $0.calibration?.description }
    if let threshold = options.scoreThreshold { steps.append("score >= \(threshold)") }
    steps.append(
      "best first, equal scores by their index" + (options.maxResults.map { ", at most \($0)" } ?? ""))
    assumptions = TaskAssumptions(
      task: "classifier", kind: heads.count == 1 ? "one head" : "\(heads.count) heads",
      reason: "each output has one number for each class", pictures: pictures,
      roles: Dictionary(heads.map { ($0.output, "the scores of \($0.classes) classes") }) { first, _ in first
      },
      labels: heads.first?.labels, steps: steps)
  }

  /// Makes a classifier from files; nil for the labels inside the model.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    var labels: LabelMap?
    if let labelsFile { labels = try LabelMap(contentsOfFile: labelsFile) }
    try self.init(model: Model(contentsOfFile: modelFile), labels: labels, options: options)
  }

  private static func heads(
    _ prepared: PreparedModel, _ labels: LabelMap?, _ options: Options
  ) throws(ApusError) -> [Head] {
    var heads: [Head] = []
    for (output, tensor) in prepared.outputs.enumerated() {
      let classes = tensor.shape.dimensions.last ?? 0
      guard tensor.shape.rank >= 1, classes > 0, tensor.shape.elementCount == classes else {
        throw ApusError(
          .invalidArgument,
          """
          the model's outputs are not those of a classifier (one score for each class, 1×classes), but: \
          \(prepared.outputDescription)
          """)
      }
      let metadata = prepared.metadata?.outputs ?? []
      let described = metadata.indices.contains(output) ? metadata[output] : nil
      var source = LabelSource(
        given: labels, of: prepared, output: output, locale: options.displayNamesLocale,
        offset: options.labelOffset)
      if options.labelOffset == nil { source?.align(toScores: classes) }
      heads.append(
        Head(
          output: output, name: described.flatMap { $0.name.isEmpty ? nil : $0.name } ?? tensor.name,
          classes: classes, labels: source,
          selection: try CategorySelection(
            allowlist: options.categoryAllowlist, denylist: options.categoryDenylist, labels: source?.map),
          calibration: ScoreCalibration(of: prepared, output: output)))
    }
    return heads
  }

  // MARK: Facts

  /// The names of the classes; nil if neither the caller nor the model has any.
  public var labels: LabelMap? { heads.first?.labels?.map }

  // MARK: Classifying

  /// Classifies a picture, or a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that is checked before each operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value.
  public func classify(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> ClassificationResult {
    result(image, try pictures.run(image, in: region, cancellation: cancellation, classifications))
  }

  /// Classifies a picture away from the caller's actor. Cancelling the caller's task stops the run.
  public func classify(_ image: ImageBuffer, in region: PixelRect? = nil) async throws(ApusError)
    -> ClassificationResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The same result, under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> ClassificationResult
  {
    try classify(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [ClassificationResult]
  {
    let answers = try pictures.run(images, cancellation: cancellation, classifications)
    return zip(images, answers).map(result)
  }

  private func result(
    _ image: ImageBuffer, _ answer: (answer: [Classifications], timings: StageTimings)
  ) -> ClassificationResult {
    ClassificationResult(
      imageWidth: image.originalWidth, imageHeight: image.originalHeight, classifications: answer.answer,
      decisionThreshold: options.decisionThreshold, timings: answer.timings)
  }

  private func classifications(of run: ModelRun, _: Placement) throws(ApusError) -> [Classifications] {
    var result: [Classifications] = []
    for (position, head) in heads.enumerated() {
      var scores = try run.values(of: head.output)
      if let calibration = head.calibration {
        for index in scores.indices { scores[index] = calibration.score(scores[index], of: index) }
      }
      let threshold = options.scoreThreshold ?? -.infinity
      // NaN is not a score.
      let wanted = scores.indices.filter { scores[$0] >= threshold && head.selection.contains($0) }
      let sorted = wanted.sorted { scores[$0] > scores[$1] || scores[$0] == scores[$1] && $0 < $1 }
      let best = sorted.prefix(options.maxResults ?? sorted.count)
      result.append(
        Classifications(
          headIndex: position, headName: head.name,
          categories: best.map {
            head.labels?.category(index: $0, score: scores[$0]) ?? Category(index: $0, score: scores[$0])
          }))
    }
    return result
  }
}
