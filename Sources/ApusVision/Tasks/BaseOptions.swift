// SPDX-License-Identifier: Apache-2.0
import Apus

/// The options that all tasks share: how a picture reaches the model, what the model's numbers mean, and how it runs.
///
/// They are also members of each task's options, by ``PictureOptions``.
public struct BaseOptions: Sendable {
  /// How pictures of other proportions are fitted; nil for what this kind of model was trained with.
  public var fit: FitPolicy?

  /// How pixels are computed when a picture is resized.
  public var resampling = Resampling.automatic

  /// The order of the input's channels; nil for what the metadata says, or else rgb or gray, by their number.
  public var channels: ImageProcessor.Channels?

  /// How pixels become numbers; nil for what the metadata says, or else what this kind of model was trained with.
  public var normalization: Normalization?

  /// The unit of the model's boxes and points; nil for what the file says, or else what is usual for its kind.
  public var boxUnits: BoxUnits?

  /// Where the output of a YOLO model has its candidates; nil for what its shape or else the graph says. Only a square output leaves it
  /// open.
  public var candidates: CandidateAxis?

  /// The form of the model's scores; nil for that shown by the file, or else the usual one for its kind.
  public var scores: ScoreForm?

  /// The input size for a model that leaves it open (`1×−1×−1×3`); required unless the metadata has a
  /// default.
  public var inputSize: (width: Int, height: Int)?

  /// How to run the model: threads, kernels, limits.
  public var interpreter = Interpreter.Options()

  /// Makes the default options.
  public init() {}

  /// Refuses a score threshold of a detector that no score reaches: its scores are 0 to 1, unless they are taken as they are.
  func checkThreshold(_ threshold: Float) throws(ApusError) {
    guard threshold <= 1 || scores == .raw && !threshold.isNaN else {
      throw ApusError(.invalidArgument, "the score threshold is \(threshold), but scores are 0 to 1")
    }
  }
}
