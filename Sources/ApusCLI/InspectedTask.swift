// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The tasks whose assumptions `apus inspect --as` shows.
enum InspectedTask: String, CaseIterable, ExpressibleByArgument {
  case detector, classifier, embedder, segmenter, transformer, keypoints, faces, sound

  /// A task by its name, or by that of the command that does it.
  init?(argument: String) {
    let commands: [String: InspectedTask] = [
      "detect": .detector, "classify": .classifier, "embed": .embedder, "segment": .segmenter,
      "transform": .transformer, "hear": .sound,
    ]
    guard let task = commands[argument] ?? InspectedTask(rawValue: argument) else { return nil }
    self = task
  }

  /// All names, for help.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The assumptions of the first task with labels that accepts a model; nil if none does.
  static func firstAssumptions(of model: Model, labels: LabelMap, base: BaseOptions) -> TaskAssumptions? {
    for task in [InspectedTask.detector, .classifier, .segmenter] {
      let found = try? task.assumptions(
        of: model, labels: labels, layout: nil, order: nil, anchors: nil, keypoints: nil, base: base)
      if let found { return found }
    }
    return nil
  }

  /// The task's assumptions about a model.
  func assumptions(
    of model: Model, labels: LabelMap?, layout: DetectorLayout?, order: BoxOrder?, anchors: [Float]?,
    keypoints: (count: Int, values: Int)?, mask: Int? = nil, base: BaseOptions
  ) throws(ApusError) -> TaskAssumptions {
    switch self {
    case .detector:
      var options = ObjectDetector.Options(baseOptions: base)
      options.layout = layout
      options.boxOrder = order
      options.anchors = anchors
      return try ObjectDetector(model: model, labels: labels, options: options).assumptions
    case .classifier:
      return try ImageClassifier(model: model, labels: labels, options: .init(baseOptions: base)).assumptions
    case .embedder:
      var options = ImageEmbedder.Options(baseOptions: base)
      options.normalizesEmbeddings = true
      return try ImageEmbedder(model: model, options: options).assumptions
    case .segmenter:
      var options = ImageSegmenter.Options(baseOptions: base)
      options.outputIndex = mask
      return try ImageSegmenter(model: model, labels: labels, options: options).assumptions
    case .transformer:
      return try PictureTransformer(model: model, options: .init(baseOptions: base)).assumptions
    case .keypoints:
      var options = KeypointDetector.Options(baseOptions: base)
      options.layout = layout
      options.keypoints = keypoints
      return try KeypointDetector(model: model, options: options).assumptions
    case .faces:
      return try FaceDetector(model: model, options: .init(baseOptions: base)).assumptions
    case .sound:
      throw ApusError(
        .invalidArgument, "a model of sounds takes no pictures, so nothing is assumed about them")
    }
  }
}
