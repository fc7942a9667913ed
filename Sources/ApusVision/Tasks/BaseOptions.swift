// SPDX-License-Identifier: Apache-2.0
import Apus

/// What every task on pictures can be told: how a picture reaches the model, and how the model runs.
///
/// The options of each task pass these on, so that `options.fit` is `options.baseOptions.fit`.
public struct BaseOptions: Sendable {
  /// How pictures of other proportions are fitted in; nil for what the kind of model was trained with.
  public var fit: FitPolicy?

  /// How pixels are computed when a picture is resized.
  public var resampling = Resampling.automatic

  /// The order of the input's channels; nil for rgb or gray, by their number.
  public var channels: ImageProcessor.Channels?

  /// How pixels become numbers; nil for what the model's metadata says, or else what its kind was trained with.
  public var normalization: Normalization?

  /// The size of the input of a model that leaves it open (`1×−1×−1×3`), which is then needed unless the metadata has a
  /// default.
  public var inputSize: (width: Int, height: Int)?

  /// How to run the model: threads, kernels, limits.
  public var interpreter = Interpreter.Options()

  /// Makes the default options.
  public init() {}
}
