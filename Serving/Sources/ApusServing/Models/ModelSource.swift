// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusShapes
import ApusVision

/// Where a model comes from.
public struct ModelSource: Hashable, Sendable {
  /// The name by which clients ask for it.
  public let name: String
  /// The version, a number in decimal.
  public let version: String
  /// The `.tflite` file, or the `.task` bundle; nil for the embedded model, and for one that a client sent.
  public let path: String?
  /// The label file beside it, if there is one.
  public let labelPath: String?
  /// The model's bytes where a client sent them; nil for a file.
  let bytes: [UInt8]?
  /// Why it cannot be read, where that is known without opening it.
  let problem: String?
  /// The settings of a `config.pbtxt` beside the model, none of which is heeded.
  public let ignoredSettings: [String]

  /// Makes a source.
  public init(name: String, version: String = "1", path: String?, labelPath: String? = nil) {
    self.init(name: name, version: version, path: path, labelPath: labelPath, problem: nil)
  }

  init(
    name: String, version: String = "1", path: String?, labelPath: String? = nil, bytes: [UInt8]? = nil,
    problem: String?, ignoredSettings: [String] = []
  ) {
    self.ignoredSettings = ignoredSettings
    self.bytes = bytes
    self.name = name
    self.version = version
    self.path = path
    self.labelPath = labelPath
    self.problem = problem
  }

  /// The model that is part of the library.
  public static let embedded = ModelSource(name: "shapes", path: nil)

  /// Reads the model.
  func model() throws(ApusError) -> Model {
    if let problem { throw ApusError(.unreadableFile, problem) }
    if let bytes { return try Model(bytes: bytes) }
    guard let path else { return try Model(bytes: EmbeddedShapes.modelBytes) }
    return try Model(contentsOfFile: path)
  }

  /// Opens the bundle; nil if the source is a single model.
  func bundle() throws(ApusError) -> TaskBundle? {
    guard problem == nil, let path, path.lowercased().hasSuffix(".task") else { return nil }
    return try TaskBundle(contentsOfFile: path)
  }

  /// The model of a bundle that answers requests for tensors: the one that finds landmarks.
  static func landmarkModel(of bundle: TaskBundle) throws(ApusError) -> Model {
    let inner = "hand_landmarker.task"
    if bundle.entryNames.contains(inner) { return try landmarkModel(of: bundle.bundle(named: inner)) }
    let names = ["pose", "hand", "face"].map { $0 + "_landmarks_detector.tflite" }
    return try bundle.model(named: names.first { bundle.entryNames.contains($0) } ?? names[1])
  }

  /// The labels of the file beside the model, or of the embedded model; nil where there are none. Those inside a model are not among them:
  /// each output may have its own.
  var givenLabels: LabelMap? {
    get throws(ApusError) {
      guard path != nil || bytes != nil else { return LabelMap(EmbeddedShapes.labels, offset: 0) }
      guard let labelPath else { return nil }
      return try LabelMap(contentsOfFile: labelPath)
    }
  }
}
