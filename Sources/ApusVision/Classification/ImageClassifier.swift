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
public final class ImageClassifier: VisionTask {
  /// How to classify.
  public struct Options: PictureOptions, CategoryOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions
    /// Which classes to report, and how to name them.
    public var resultOptions = ResultOptions()
    /// The threshold of the ``Classifications/decision(threshold:)`` in encoded results; nil for none.
    public var decisionThreshold: Float?

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model, with what its answers have shown so far.
  public var assumptions: TaskAssumptions {
    TaskAssumptions(
      task: "classifier", kind: heads.count == 1 ? "one head" : "\(heads.count) heads",
      reason: "each output has one number for each class", pictures: pictures, roles: heads.roles,
      readings: heads.readings, labels: heads.labels, steps: heads.steps,
      warnings: heads.warnings + featureWarnings)
  }

  /// The warnings about an input that may have features of a sound or of motion.
  private var featureWarnings: [String] {
    let input = pictures.input
    let (width, height) = (input.geometry.width, input.geometry.height)
    guard input.geometry.channelCount == 1, input.geometry.guess == nil,
      max(width, height) > min(width, height) * 5 / 4,
      options.baseOptions.channels == nil, options.baseOptions.normalization == nil
    else { return [] }
    if case .image = pictures.metadata?.inputs.first?.content { return [] }
    return [
      "the input takes \(height) rows of \(width) numbers with one channel: taken for a gray picture, though it may be "
        + "features such as a spectrogram; --channels gray says that it is a picture"
    ]
  }

  let pictures: PictureModel
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
    try options.resultOptions.check()
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    try prepared.checkTask(["classify"], for: "classify")
    heads = try ClassificationHeads(
      of: prepared, labels: labels, scores: options.baseOptions.scores, options: options.resultOptions)
    pictures = try PictureModel(
      prepared,
      defaults: PictureDefaults(exportedBy: prepared.export, as: "classify", usual: PictureDefaults()),
      lacksLabels: heads.labels == nil)
  }

  /// Makes a classifier from files. Without `labelsFile`, the labels are those inside the model.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, `malformedLabels`, or what the other initializer throws.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    try self.init(
      model: Model(contentsOfFile: modelFile), labels: LabelMap(ofFile: labelsFile), options: options)
  }

  // MARK: Facts

  /// Whether the next answer may decide how all later ones are read. Several at once would decide by chance.
  package var isUndecided: Bool { heads.isUndecided }

  /// The names of the classes; nil if neither the caller nor the model has any.
  public var labels: LabelMap? { heads.labels?.map }

  /// How many classes the first head has.
  package var classCount: Int { heads.classCount }

  // MARK: Classifying

  /// Classifies a picture, or a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if the run takes more than the options of `interpreter` allow.
  public func classify(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> ClassificationResult {
    try pictures.run(image, in: region, cancellation: cancellation, result)
  }

  /// Classifies a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func classify(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> ClassificationResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> ClassificationResult
  {
    try classify(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [ClassificationResult]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> ClassificationResult {
    let classifications = try heads.classifications(of: run)
    if options.decisionThreshold != nil { try heads.checkDecision() }
    return ClassificationResult(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight,
      classifications: classifications,
      scoreForm: heads.form, decisionThreshold: options.decisionThreshold)
  }
}
