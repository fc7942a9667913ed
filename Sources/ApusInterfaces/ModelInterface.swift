// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

/// The parts of a Swift type for a model: the model's inputs and outputs, its classes, and the task that
/// takes it.
public struct ModelInterface: Sendable {
  /// An input or an output.
  struct Value: Sendable {
    /// The name in Swift.
    let member: String
    /// The name in the model.
    let name: String
    let type: ElementType
    let shape: [Int]
    /// The shape as the model has it, with −1 for each axis that it leaves open.
    let signature: [Int]
    let quantization: QuantizationParameters?

    /// Whether an axis is open.
    var isOpen: Bool { signature.contains { $0 < 0 } }

    /// The type of an element in Swift; nil if Swift has none.
    var element: String? {
      switch type {
      case .float32: "Float"
      case .float64: "Double"
      case .uint8: "UInt8"
      case .int8: "Int8"
      case .int16: "Int16"
      case .uint16: "UInt16"
      case .int32: "Int32"
      case .uint32: "UInt32"
      case .int64: "Int64"
      case .uint64: "UInt64"
      case .bool: "Bool"
      default: nil
      }
    }

    /// The scale and zero point of bytes with one scale; nil for others.
    var scale: (scale: Float, zeroPoint: Int)? {
      guard let quantization, quantization.scales.count == 1, [.uint8, .int8, .int16].contains(type) else {
        return nil
      }
      return (quantization.scales[0], quantization.zeroPoints.first.map { Int($0) } ?? 0)
    }
  }

  /// A vision task that takes the model.
  enum Task: String, Sendable {
    case faces = "FaceDetector"
    case keypoints = "KeypointDetector"
    case detector = "ObjectDetector"
    case segmenter = "ImageSegmenter"
    case classifier = "ImageClassifier"
  }

  /// The name of the Swift type.
  public let typeName: String
  /// The name of the model's file, without its folder.
  public let fileName: String
  /// The SHA-256 of the file, in hexadecimal digits.
  public let sha256: String
  let description: String?
  let signature: String?
  /// The names of all signatures.
  let signatures: [String]
  let inputs: [Value]
  let outputs: [Value]
  let labels: [String]
  /// Whether the labels come from a file beside the model.
  let isLabelled: Bool
  let task: Task?
  let assumptions: [String]
  /// Warnings about the model or the labels; usually empty.
  package let warnings: [String]

  /// The maximum number of classes that become cases: some seconds for the compiler. Of more, there are only the names.
  static let maximumCases = 2_000

  /// Reads a model.
  ///
  /// - Parameters:
  ///   - path: The `.tflite` file.
  ///   - typeName: The name of the type; nil for that of the file.
  ///   - labelsPath: A file of labels; nil for the labels inside the model, if there are any.
  ///   - signatureKey: The signature that names inputs and outputs; nil for that of the main function, if it has one.
  /// - Throws: `unreadableFile`, `malformedModel`, or all reasons why the model cannot run; `invalidArgument` for a name that is no
  ///   identifier of Swift, a signature that the model does not have, or labels that cannot be read.
  public init(
    modelFile path: String, typeName: String? = nil, labelsFile labelsPath: String? = nil,
    signature signatureKey: String? = nil
  ) throws(ApusError) {
    let model = try Model(contentsOfFile: path)
    let fileName = path.split(separator: "/").last.map(String.init) ?? path
    self.fileName = fileName
    let stem = fileName.lastIndex(of: ".").map { String(fileName[..<$0]) } ?? fileName
    if let typeName, SwiftName.type(typeName) != typeName {
      throw ApusError(
        .invalidArgument,
        "'\(typeName)' cannot name the type: it is no name in Swift, or the generated code needs it; "
          + "'\(SwiftName.type(typeName))' would be")
    }
    self.typeName = typeName ?? SwiftName.type(stem)
    sha256 = try fileSHA256(path)
    let signatures = model.signatures
    self.signatures = signatures.map(\.key)
    let signature =
      if let signatureKey { signatures.first { $0.key == signatureKey } } else { model.mainSignature }
    if let signatureKey, signature == nil {
      let known = signatures.map { "'\($0.key)'" }.joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        "the model has no signature '\(signatureKey)', " + (known.isEmpty ? "nor any other" : "but \(known)"))
    }
    // A model that cannot run is refused with all reasons.
    let interpreter = try Interpreter(model: model, signature: signature?.key)
    self.signature = signature?.key
    let metadata = model.metadata
    description = metadata.flatMap { data in
      [data.name, data.description].first { !$0.isEmpty }
    }
    inputs = Self.values(
      interpreter.inputs, names: signature.map { $0.inputs.map(\.name) },
      described: metadata?.inputs.map(\.name))
    outputs = Self.values(
      interpreter.outputs, names: signature.map { $0.outputs.map(\.name) },
      described: metadata?.outputs.map(\.name))
    let given: LabelMap?
    if let labelsPath { given = try LabelMap(contentsOfFile: labelsPath) } else { given = nil }
    isLabelled = given != nil
    let found =
      Self.task(of: model, labels: given) ?? Self.noTask(of: model, interpreter.outputs, labels: given)
    (task, assumptions) = (found.task, found.assumptions)
    labels = found.names
    warnings =
      found.warnings
      + (given != nil && found.names.isEmpty
        ? ["the labels are not used: a model for \(task?.rawValue ?? "no task") has no classes"] : [])
  }

  private static func values(_ tensors: [Tensor], names: [String]?, described: [String?]?) -> [Value] {
    let names = tensors.enumerated().map { place, tensor in
      if let names, names.indices.contains(place) { return names[place] }
      if let described, described.indices.contains(place), let name = described[place], !name.isEmpty {
        return name
      }
      return tensor.name
    }
    let members = SwiftName.members(names.map(plain))
    return tensors.enumerated().map { place, tensor in
      Value(
        member: members[place], name: names[place], type: tensor.type, shape: tensor.shape.dimensions,
        signature: tensor.shapeSignature, quantization: tensor.quantization)
    }
  }

  /// A tensor's name without what converters put around it.
  private static func plain(_ name: String) -> String {
    var name = name[...]
    if let slash = name.lastIndex(of: "/") { name = name[name.index(after: slash)...] }
    if name.hasPrefix("serving_default_") { name = name.dropFirst("serving_default_".count) }
    if name.hasSuffix(":0") { name = name.dropLast(2) }
    return String(name)
  }

  /// The task for a model, with its assumptions and warnings, and the names of the classes.
  private struct Recognized {
    let task: Task?
    let assumptions: [String]
    let warnings: [String]
    /// The names of classes in their order, empty for those without one.
    let names: [String]

    /// - Parameters:
    ///   - labels: The names as the task looks them up; nil if it has none.
    ///   - classCount: How many classes there are; nil where only the names say so.
    init(
      _ task: Task?, _ assumptions: TaskAssumptions?, warnings: [String] = [], labels: LabelMap? = nil,
      classCount: Int? = nil
    ) {
      self.task = task
      self.assumptions = assumptions?.readings.map(\.text) ?? []
      self.warnings = assumptions?.warnings ?? warnings
      let count = labels.map { classCount ?? $0.rowCount - $0.offset } ?? 0
      let isUsual = (1...LabelMap.maximumRowCount).contains(count)
      names = isUsual ? (0..<count).map { labels?[$0] ?? "" } : []
    }
  }

  /// The first task that takes the model; nil if none does. Any row of numbers could be scores: a classifier needs labels.
  private static func task(of model: Model, labels: LabelMap?) -> Recognized? {
    if let task = try? FaceDetector(model: model) { return Recognized(.faces, task.assumptions) }
    if let task = try? KeypointDetector(model: model) { return Recognized(.keypoints, task.assumptions) }
    if let task = try? ObjectDetector(model: model, labels: labels) {
      return Recognized(.detector, task.assumptions, labels: task.labels, classCount: task.classCount)
    }
    if let task = try? ImageSegmenter(model: model, labels: labels) {
      // Of whole classes, the model may not say how many there are.
      let count = task.classCount <= UInt16.max ? task.classCount : nil
      return Recognized(.segmenter, task.assumptions, labels: task.labels, classCount: count)
    }
    guard let task = try? ImageClassifier(model: model, labels: labels), let names = task.labels else {
      return nil
    }
    return Recognized(.classifier, task.assumptions, labels: names, classCount: task.classCount)
  }

  /// The result for a model that no task takes; its names are those of the first output's scores, if any.
  private static func noTask(of model: Model, _ outputs: [Tensor], labels: LabelMap?) -> Recognized {
    if let output = outputs.first,
      let scores = try? TensorClassifier(
        model, output: output, labels: labels, scores: nil, options: ResultOptions())
    {
      return Recognized(
        nil, nil, warnings: scores.labels == nil ? [] : scores.warnings, labels: scores.labels,
        classCount: scores.classCount)
    }
    return Recognized(nil, nil, labels: labels ?? LabelMap(of: model))
  }
}
