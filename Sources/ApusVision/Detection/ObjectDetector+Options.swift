// SPDX-License-Identifier: Apache-2.0
import Apus

extension ObjectDetector {
  /// How to detect.
  @dynamicMemberLookup
  public struct Options: Sendable {
    /// How pictures reach the model, and how it runs. Its members are also members of these options.
    public var baseOptions = BaseOptions()

    /// The minimum score of a detection, inclusive except for YOLO; nil for ``DetectorLayout/defaultScoreThreshold``.
    public var scoreThreshold: Float?

    /// The maximum number of detections; nil for ``DetectorLayout/defaultMaxResults``.
    public var maxResults: Int?

    /// The only labels to report; empty for all. Cannot be combined with ``categoryDenylist``.
    public var categoryAllowlist: [String] = []

    /// The labels to leave out. Cannot be combined with ``categoryAllowlist``.
    public var categoryDenylist: [String] = []

    /// The language of display names, such as `en` or `de-CH`, if the metadata has them; nil for none.
    public var displayNamesLocale: String?

    /// How many label rows precede class 0; nil for what ``LabelMap/detectedOffset`` suggests, or what
    /// the given labels say.
    public var labelOffset: Int?

    /// The kind of model; nil to recognize it by its operators, metadata, names and shapes.
    public var layout: DetectorLayout?

    /// Which output of a post-processed model holds what; nil to recognize them by operator, metadata, names, shapes
    /// and values.
    public var outputs: DetectionOutputs?

    /// The overlap (intersection over union) above which the better of two boxes suppresses the other; for models
    /// without suppression of their own.
    public var iouThreshold: Float = 0.45

    /// Whether boxes also suppress those of other classes.
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

    /// Checks everything that does not depend on a model.
    func check() throws(ApusError) {
      guard !(scoreThreshold?.isNaN ?? false) else {
        throw ApusError(.invalidArgument, "the score threshold is not a number")
      }
      guard iouThreshold >= 0, iouThreshold <= 1 else {
        throw ApusError(.invalidArgument, "the IoU threshold is \(iouThreshold), not 0 to 1")
      }
      if let maxResults, maxResults < 1 {
        throw ApusError(.invalidArgument, "maxResults is \(maxResults), not 1 or more")
      }
      guard outputs == nil || layout == nil || layout == .postProcessed else {
        throw ApusError(
          .invalidArgument,
          "outputs can be chosen only for the layout post-processed")
      }
    }
  }
}
