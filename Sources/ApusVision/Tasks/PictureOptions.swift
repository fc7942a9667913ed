// SPDX-License-Identifier: Apache-2.0
import Apus

/// Options of a task that takes pictures: those of ``BaseOptions`` are also its own.
public protocol PictureOptions {
  /// How pictures reach the model, and how it runs.
  var baseOptions: BaseOptions { get set }
}

extension PictureOptions {
  /// How pictures of other proportions are fitted, as in ``BaseOptions/fit``.
  public var fit: FitPolicy? {
    get { baseOptions.fit }
    set { baseOptions.fit = newValue }
  }

  /// How pixels are computed when a picture is resized, as in ``BaseOptions/resampling``.
  public var resampling: Resampling {
    get { baseOptions.resampling }
    set { baseOptions.resampling = newValue }
  }

  /// The order of the input's channels, as in ``BaseOptions/channels``.
  public var channels: ImageProcessor.Channels? {
    get { baseOptions.channels }
    set { baseOptions.channels = newValue }
  }

  /// How pixels become numbers, as in ``BaseOptions/normalization``.
  public var normalization: Normalization? {
    get { baseOptions.normalization }
    set { baseOptions.normalization = newValue }
  }

  /// The unit of the model's boxes and points, as in ``BaseOptions/boxUnits``.
  public var boxUnits: BoxUnits? {
    get { baseOptions.boxUnits }
    set { baseOptions.boxUnits = newValue }
  }

  /// Where the output of a YOLO model has its candidates, as in ``BaseOptions/candidates``.
  public var candidates: CandidateAxis? {
    get { baseOptions.candidates }
    set { baseOptions.candidates = newValue }
  }

  /// The form of the model's scores, as in ``BaseOptions/scores``.
  public var scores: ScoreForm? {
    get { baseOptions.scores }
    set { baseOptions.scores = newValue }
  }

  /// The input size for a model that leaves it open, as in ``BaseOptions/inputSize``.
  public var inputSize: (width: Int, height: Int)? {
    get { baseOptions.inputSize }
    set { baseOptions.inputSize = newValue }
  }

  /// How to run the model, as in ``BaseOptions/interpreter``.
  public var interpreter: Interpreter.Options {
    get { baseOptions.interpreter }
    set { baseOptions.interpreter = newValue }
  }
}
