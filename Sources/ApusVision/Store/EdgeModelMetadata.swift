// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The contents of `tflite_metadata.json`, which AutoML Vision Edge puts beside a model, to compare with the model itself.
///
/// ```swift
/// let model = try Model(contentsOfFile: "model.tflite")
/// try EdgeModelMetadata(contentsOfFile: "tflite_metadata.json").check(model)
/// ```
///
/// The model itself contains all these facts, so a program needs no constants from here. Comments from `//` to the end of a line
/// are skipped.
public struct EdgeModelMetadata: Hashable, Sendable {
  /// The maximum size of a file, in bytes.
  public static let maximumFileSize = 1 << 20

  /// The type of the model's input, such as `QUANTIZED_UINT8` or `FLOAT`; nil if unknown.
  public let inferenceType: String?
  /// The shape of the input; empty if unknown.
  public let inputShape: [Int]
  /// The name of the input; nil if unknown.
  public let inputTensor: String?
  /// The maximum number of detections; nil if unknown.
  public let maxDetections: Int?
  /// The content of each output, such as `bounding_boxes`; empty if unknown.
  public let outputTensorRepresentation: [String]
  /// The names of the outputs; empty if unknown.
  public let outputTensors: [String]

  /// Reads the file.
  ///
  /// - Throws: `unreadableFile`, `resourceLimit`, or `malformedLabels` with the place.
  public init(contentsOfFile path: String) throws(ApusError) {
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
    do { try self.init(parsing: bytes) } catch {
      throw ApusError(error.code, "the metadata '\(path)': \(error.message)")
    }
  }

  /// Reads the bytes of the file.
  ///
  /// - Throws: `malformedLabels` with the place.
  public init(parsing bytes: [UInt8]) throws(ApusError) {
    guard bytes.count <= Self.maximumFileSize else {
      throw ApusError(
        .resourceLimit, "\(bytes.count) bytes of metadata are more than \(Self.maximumFileSize)")
    }
    let facts: Literal
    do { facts = try Literal(parsing: Self.withoutComments(bytes)) } catch {
      throw ApusError(.malformedLabels, error.message)
    }
    guard facts.entries != nil else {
      throw ApusError(.malformedLabels, "the metadata is not an object, {…}")
    }
    func malformed(_ key: String, _ expected: String) -> ApusError {
      ApusError(.malformedLabels, "\(key) is not \(expected)")
    }
    func text(_ key: String) throws(ApusError) -> String? {
      guard let value = facts[key] else { return nil }
      guard let text = value.text else { throw malformed(key, "a text") }
      return text
    }
    func integer(_ value: Literal, _ key: String) throws(ApusError) -> Int {
      guard let number = value.integer, (-1...Int(Int32.max)).contains(number) else {
        throw malformed(key, "made of whole numbers")
      }
      return number
    }
    func list<Value>(
      _ key: String, _ element: (Literal) throws(ApusError) -> Value
    ) throws(ApusError) -> [Value] {
      guard let value = facts[key] else { return [] }
      guard let items = value.list else { throw malformed(key, "a list") }
      var result: [Value] = []
      for item in items { result.append(try element(item)) }
      return result
    }
    func texts(_ key: String) throws(ApusError) -> [String] {
      try list(key) { item throws(ApusError) in
        guard let text = item.text else { throw malformed(key, "a list of texts") }
        return text
      }
    }
    inferenceType = try text("inferenceType")
    inputShape = try list("inputShape") { item throws(ApusError) in try integer(item, "inputShape") }
    inputTensor = try text("inputTensor")
    maxDetections = try facts["maxDetections"].map { value throws(ApusError) in
      try integer(value, "maxDetections")
    }
    outputTensorRepresentation = try texts("outputTensorRepresentation")
    outputTensors = try texts("outputTensors")
  }

  /// The text with comments replaced by spaces; strings that contain comment marks stay.
  private static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    var (index, isInString) = (0, false)
    while index < result.count {
      let byte = result[index]
      if isInString, byte == UInt8(ascii: "\\") {
        index += 1
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      } else if !isInString, byte == UInt8(ascii: "/"), index + 1 < result.count, result[index + 1] == byte {
        while index < result.count, result[index] != 0x0A, result[index] != 0x0D {
          result[index] = 0x20
          index += 1
        }
      }
      index += 1
    }
    return result
  }

  // MARK: Comparing

  /// Compares the metadata with a model.
  ///
  /// If ``maxDetections`` is known, this prepares an interpreter, because files leave the shapes of detections open.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - options: What the interpreter may take.
  /// - Throws: `invalidArgument` if they differ; `reasons` has a sentence for each difference. With ``maxDetections``, also
  ///   the errors of `Apus.Interpreter`.
  public func check(
    _ model: Model, options: Interpreter.Options = Interpreter.Options()
  ) throws(ApusError) {
    let outputs =
      maxDetections == nil ? model.outputs : try Interpreter(model: model, options: options).outputs
    let differences = differences(from: model, outputs)
    guard let first = differences.first else { return }
    let more = differences.count > 1 ? " (and \(differences.count - 1) more)" : ""
    throw ApusError(
      .invalidArgument, "the metadata is not this model's: \(first)\(more)", reasons: differences)
  }

  private func differences(from model: Model, _ outputs: [Tensor]) -> [String] {
    var differences: [String] = []
    func compare(_ what: String, _ said: some Equatable, _ found: some Equatable, _ isSame: Bool) {
      if !isSame { differences.append("\(what) is \(found), not \(said)") }
    }
    guard let input = model.inputs.first else { return ["the model has no input"] }
    if let inputTensor { compare("the input", inputTensor, input.name, inputTensor == input.name) }
    if !inputShape.isEmpty {
      let shape = input.shapeSignature
      let fits =
        shape.count == inputShape.count && zip(shape, inputShape).allSatisfy { $0 == $1 || $0 < 0 || $1 < 0 }
      compare("the input's shape", inputShape, shape, fits)
    }
    if let inferenceType {
      let types: [String: ElementType] = [
        "QUANTIZED_UINT8": .uint8, "QUANTIZED_INT8": .int8, "FLOAT": .float32,
      ]
      compare(
        "the input's type", inferenceType, "\(input.type)",
        types[inferenceType].map { $0 == input.type } ?? false)
    }
    if !outputTensors.isEmpty {
      compare("the list of outputs", outputTensors, outputs.map(\.name), outputTensors == outputs.map(\.name))
    }
    if !outputTensorRepresentation.isEmpty {
      compare(
        "the number of outputs", outputTensorRepresentation.count, outputs.count,
        outputTensorRepresentation.count == outputs.count)
    }
    if let maxDetections, let count = detectionCount(outputs) {
      compare("the maximum number of detections", maxDetections, count, maxDetections == count)
    }
    return differences
  }

  /// How many boxes the outputs have room for; nil if the shapes do not say.
  private func detectionCount(_ outputs: [Tensor]) -> Int? {
    let named = outputTensorRepresentation.firstIndex(of: "bounding_boxes")
    let boxes = named.flatMap { outputs.indices.contains($0) ? outputs[$0] : nil } ?? outputs.first
    guard let shape = boxes?.shape, shape.rank == 3, shape[2] == 4, shape[1] > 0 else { return nil }
    return shape[1]
  }
}
