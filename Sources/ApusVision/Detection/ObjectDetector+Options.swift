// SPDX-License-Identifier: Apache-2.0
import Apus

extension ObjectDetector {
  /// How to detect.
  @dynamicMemberLookup
  public struct Options: Sendable {
    /// How pictures reach the model, and how it runs; its members are members of these options, too.
    public var baseOptions = BaseOptions()

    /// The least score of a detection; nil for ``DetectorLayout/defaultScoreThreshold``. Equal is enough, but for YOLO.
    public var scoreThreshold: Float?

    /// The most detections in an answer, the best ones; nil for ``DetectorLayout/defaultMaxResults``.
    public var maxResults: Int?

    /// The only labels to answer with; empty for all. Excludes ``categoryDenylist``.
    public var categoryAllowlist: [String] = []

    /// The labels to leave out. Excludes ``categoryAllowlist``.
    public var categoryDenylist: [String] = []

    /// The language of display names, as `en` or `de-CH`, where the metadata has them; nil for none.
    public var displayNamesLocale: String?

    /// How many rows of the labels lie before class 0; nil for what ``LabelMap/detectedOffset`` suggests, or what
    /// the given labels say.
    public var labelOffset: Int?

    /// The kind of model; nil to find out from its operators, metadata, names and shapes.
    public var layout: DetectorLayout?

    /// Which output of a post-processed model holds what; nil to find out from the operator, the metadata, names, shapes
    /// and values.
    public var outputs: DetectionOutputs?

    /// The overlap, as intersection over union, above which the better of two boxes suppresses the other; for models
    /// without suppression of their own.
    public var iouThreshold: Float = 0.45

    /// Whether boxes suppress those of other classes, too.
    public var isClassAgnostic = false

    /// Whether one box may be found with several classes.
    public var isMultiLabel = false

    /// Makes the default options.
    public init() {}

    /// The options that all tasks have.
    public subscript<Value>(dynamicMember path: WritableKeyPath<BaseOptions, Value>) -> Value {
      get { baseOptions[keyPath: path] }
      set { baseOptions[keyPath: path] = newValue }
    }

    /// Checks what does not depend on a model.
    func check() throws(ApusError) {
      guard !(scoreThreshold?.isNaN ?? false) else {
        throw ApusError(.invalidArgument, "the score threshold is not a number")
      }
      guard iouThreshold >= 0, iouThreshold <= 1 else {
        throw ApusError(.invalidArgument, "the IoU threshold is \(iouThreshold), not 0 to 1")
      }
      if let maxResults, maxResults < 1 {
        throw ApusError(.invalidArgument, "at most \(maxResults) results are asked for, not 1 or more")
      }
      guard outputs == nil || layout == nil || layout == .postProcessed else {
        throw ApusError(
          .invalidArgument,
          "outputs are chosen, which only post-processed models have, and the layout is not that")
      }
    }
  }
}
