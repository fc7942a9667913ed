// SPDX-License-Identifier: Apache-2.0
import Apus

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

  /// The options, as given.
  public let options: Options
  /// What the task assumes about the model.
  public let assumptions: TaskAssumptions

  private let pictures: PictureModel
  private let heads: ClassificationHeads

  /// Makes a classifier.
  ///
  /// - Parameters:
  ///   - model: The model: one picture in, one score for each class out.
  ///   - labels: The names of the classes; nil for the labels inside the model.
  ///   - options: How to classify.
  /// - Throws: `invalidArgument` if the options contradict each other or the model is not a classifier; errors of
  ///   `Apus.Interpreter`.
  public init(model: Model, labels: LabelMap? = nil, options: Options = Options()) throws(ApusError) {
    let criteria = ClassificationCriteria(
      scoreThreshold: options.scoreThreshold, maxResults: options.maxResults,
      allowlist: options.categoryAllowlist, denylist: options.categoryDenylist,
      locale: options.displayNamesLocale, labelOffset: options.labelOffset)
    try criteria.check()
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    heads = try ClassificationHeads(of: prepared, labels: labels, criteria: criteria)
    pictures = try PictureModel(prepared, defaults: PictureDefaults())
    assumptions = TaskAssumptions(
      task: "classifier", kind: heads.count == 1 ? "one head" : "\(heads.count) heads",
      reason: "each output has one number for each class", pictures: pictures, roles: heads.roles,
      labels: heads.labels, steps: heads.steps)
  }

  /// Makes a classifier from files; nil for the labels inside the model.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    var labels: LabelMap?
    if let labelsFile { labels = try LabelMap(contentsOfFile: labelsFile) }
    try self.init(model: Model(contentsOfFile: modelFile), labels: labels, options: options)
  }

  // MARK: Facts

  /// The names of the classes; nil if neither the caller nor the model has any.
  public var labels: LabelMap? { heads.labels?.map }

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
    heads.classifications(of: try heads.scores(of: run))
  }
}
