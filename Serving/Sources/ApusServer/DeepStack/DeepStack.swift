// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import Logging

/// The models of the paths of DeepStack and CodeProject.AI by their parts, and the faces that are known.
struct DeepStack: Sendable {
  /// The part of a model in these paths.
  enum Part: String, CaseIterable {
    /// Objects with boxes.
    case detection
    /// The class of a whole picture.
    case scene
    /// Faces.
    case face
    /// Embeddings of faces, by which people are told apart.
    case recognition
  }

  let faces: KnownFaces
  private let names: [Part: String]
  private let logger: Logger

  /// Assigns the models of a repository.
  ///
  /// A model does what the operator says (`detection=NAME`). A part without a choice gets the first model, by name, that can do
  /// it; classes of scenes must have names, and a model that only embeds has none. What was chosen so is logged.
  ///
  /// - Throws: `StartError` for an unknown part or model, or a model that cannot do its part; `ApusError` for an unreadable file of faces.
  init(
    choices: [String], facesFile: String?, _ repository: ModelRepository, _ scheduler: Scheduler,
    _ logger: Logger
  ) throws {
    var names: [Part: String] = [:]
    for choice in choices {
      let parts = choice.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let part = Part(rawValue: parts[0]) else {
        let known = Part.allCases.map(\.rawValue).joined(separator: ", ")
        throw StartError(message: "--deepstack-model is '\(choice)', not part=model with a part of \(known)")
      }
      guard let model = try? repository.model(named: parts[1]) else {
        throw StartError(message: "--deepstack-model \(choice): there is no model '\(parts[1])'")
      }
      guard scheduler.canDo(part.kind, model) else {
        throw StartError(
          message:
            "--deepstack-model \(choice): the model cannot do that; see: apus inspect --as \(part.kind.rawValue)"
        )
      }
      names[part] = parts[1]
    }
    let models = repository.models
    for part in Part.allCases where names[part] == nil {
      guard let model = models.first(where: { part.takes($0, Self.abilities(of: $0, scheduler)) }) else {
        continue
      }
      names[part] = model.name
      logger.notice(
        "deepstack",
        metadata: [
          "part": "\(part.rawValue)", "model": "\(model.name)", "because": "the first that can do it",
        ])
    }
    self.names = names
    self.logger = logger
    faces = try KnownFaces(file: facesFile, logger: logger)
    if let name = names[.detection] { checkNames(ofModel: name, in: repository) }
  }

  /// Says in the log if a model that was loaded is the one for objects and has no names of classes. Takes as long as preparing the model.
  func checkNames(ofModel name: String, in repository: ModelRepository) {
    guard name == names[.detection], let model = try? repository.model(named: name),
      let detector = try? model.objectDetector(threads: 1), detector.assumptions.labels == nil
    else { return }
    logger.warning(
      "deepstack",
      metadata: [
        "part": "detection", "model": "\(name)",
        "reason": "the model has no names of classes, and objects without a name are left out",
      ])
  }

  /// The models that find objects, each looked at once. Takes as long as preparing those that are new.
  func detectors(among models: [ServedModel], _ scheduler: Scheduler) -> [ServedModel] {
    models.filter { scheduler.canDo(.detect, $0) }
  }

  /// The tasks of a model among those by which parts are told apart.
  private static func abilities(of model: ServedModel, _ scheduler: Scheduler) -> Set<VisionTaskKind> {
    Set([.detect, .faces, .classify, .keypoints, .segment, .embed].filter { scheduler.canDo($0, model) })
  }

  /// The model for a part.
  ///
  /// - Throws: `notFound` if the server has none, or has it no longer.
  func model(for part: Part, in repository: ModelRepository) throws(ServingError) -> ServedModel {
    guard let name = names[part] else {
      throw ServingError(
        .notFound, "no model of this server does '\(part.rawValue)'; see --deepstack-model of apus-server")
    }
    return try repository.model(named: name)
  }
}

extension DeepStack.Part {
  /// The task of the part's model.
  var kind: VisionTaskKind {
    switch self {
    case .detection: .detect
    case .scene: .classify
    case .face: .faces
    case .recognition: .embed
    }
  }

  /// Whether a model that was not chosen is one for this part.
  fileprivate func takes(_ model: ServedModel, _ abilities: Set<VisionTaskKind>) -> Bool {
    guard abilities.contains(kind) else { return false }
    switch self {
    case .detection: return !abilities.contains(.faces)
    case .face: return true
    case .scene: return model.hasLabels && !abilities.contains(.detect)
    case .recognition:
      return !model.hasLabels && abilities.isDisjoint(with: [.detect, .faces, .keypoints, .segment])
    }
  }
}
