import Apus

extension ObjectDetector {
  /// How to detect.
  public struct Options: Sendable {
    /// The least score of a detection; equal is enough.
    public var scoreThreshold: Float = 0.5

    /// The most detections in an answer, the best ones; nil for all.
    public var maxResults: Int?

    /// The only labels to answer with; empty for all. Excludes ``labelDenyList``.
    public var labelAllowList: [String] = []

    /// The labels to leave out. Excludes ``labelAllowList``.
    public var labelDenyList: [String] = []

    /// How many rows of the labels lie before class 0; nil for what ``LabelMap/detectedOffset`` suggests, or what
    /// the given labels say.
    public var labelOffset: Int?

    /// How pictures of other proportions are fitted in.
    public var fit = FitPolicy.stretch

    /// How pixels are computed.
    public var filter = ResizeFilter.automatic

    /// The order of the input's channels; nil for rgb or gray, by their number.
    public var channels: ImageProcessor.Channels?

    /// How pixels become numbers.
    ///
    /// Where nil, a float32 input takes what the metadata says, or else `(v − 127.5) / 127.5`; a uint8 input takes
    /// the pixels as they are, an int8 input less 128.
    public var normalization: Normalization?

    /// The size of the input of a model that leaves it open (`1×−1×−1×3`), which is then needed unless the
    /// metadata has a default.
    public var inputSize: (width: Int, height: Int)?

    /// Which output holds what; nil to find out from the operator, the metadata, names, shapes and values.
    public var outputs: DetectionOutputs?

    /// How to run the model: threads, kernels, limits.
    public var interpreter = Interpreter.Options()

    /// Makes the default options.
    public init() {}

    /// Checks what does not depend on a model.
    func check() throws(ApusError) {
      guard !scoreThreshold.isNaN else {
        throw ApusError(.invalidArgument, "the score threshold is not a number")
      }
      if let maxResults, maxResults < 1 {
        throw ApusError(.invalidArgument, "at most \(maxResults) results are asked for, not 1 or more")
      }
      guard labelAllowList.isEmpty || labelDenyList.isEmpty else {
        throw ApusError(
          .invalidArgument, "labels are both allowed and denied by lists; only one list can be used")
      }
    }
  }
}
