// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The tasks whose assumptions `apus inspect --as` shows.
enum InspectedTask: String, CaseIterable, ExpressibleByArgument {
  case detector, classifier, embedder, segmenter, keypoints, faces

  /// All names, for help.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// What the task assumes about a model.
  func assumptions(
    of model: Model, layout: DetectorLayout?, interpreter: Interpreter.Options
  ) throws(ApusError) -> TaskAssumptions {
    var base = BaseOptions()
    base.interpreter = interpreter
    switch self {
    case .detector:
      var options = ObjectDetector.Options()
      options.layout = layout
      options.baseOptions = base
      return try ObjectDetector(model: model, options: options).assumptions
    case .classifier:
      var options = ImageClassifier.Options()
      options.baseOptions = base
      return try ImageClassifier(model: model, options: options).assumptions
    case .embedder:
      var options = ImageEmbedder.Options()
      options.l2Normalize = true
      options.baseOptions = base
      return try ImageEmbedder(model: model, options: options).assumptions
    case .segmenter:
      var options = ImageSegmenter.Options()
      options.baseOptions = base
      return try ImageSegmenter(model: model, options: options).assumptions
    case .keypoints:
      var options = KeypointDetector.Options()
      options.baseOptions = base
      return try KeypointDetector(model: model, options: options).assumptions
    case .faces:
      var options = FaceDetector.Options()
      options.baseOptions = base
      return try FaceDetector(model: model, options: options).assumptions
    }
  }
}
