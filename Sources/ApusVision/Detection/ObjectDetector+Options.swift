// SPDX-License-Identifier: Apache-2.0
import Apus

extension ObjectDetector {
  /// How to detect.
  public struct Options: PictureOptions, CategoryOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions

    /// Which classes to report, and how to name them.
    public var resultOptions = ResultOptions()

    /// The kind of model; nil to recognize it by its operators, metadata, names and shapes.
    public var layout: DetectorLayout?

    /// Which output of a post-processed model holds what; nil to recognize them by operator, metadata, names, shapes
    /// and values.
    public var outputs: DetectionOutputs?

    /// The order of a box's numbers in a post-processed model; nil for what the operator, the metadata or names say, or else what is
    /// usual.
    public var boxOrder: BoxOrder?

    /// The anchors of a raw head of YOLO v3, v4, v5 or v7: widths and heights in pixels of the input, the finest grid first;
    /// nil for those that its version was published with.
    public var anchors: [Float]?

    /// The overlap (intersection over union) above which the better of two boxes suppresses the other; for models
    /// without suppression of their own.
    public var maximumOverlap: Float = 0.45

    /// Whether boxes also suppress those of other classes.
    public var isClassAgnostic = false

    /// Whether one box may be found with several classes.
    public var isMultiLabel = false

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }

    /// Checks everything that does not depend on a model.
    func check() throws(ApusError) {
      try resultOptions.check()
      if let scoreThreshold { try baseOptions.checkThreshold(scoreThreshold) }
      guard maximumOverlap >= 0, maximumOverlap <= 1 else {
        throw ApusError(.invalidArgument, "the IoU threshold is \(maximumOverlap), not 0 to 1")
      }
      guard outputs == nil || layout == nil || layout == .postProcessed else {
        throw ApusError(
          .invalidArgument,
          "outputs can be chosen only for the layout post-processed")
      }
    }
  }
}
