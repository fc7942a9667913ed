// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// The report of `apus inspect`; its properties are the keys of the JSON document, in `snake_case`.
struct Inspection: Encodable {
  struct Quantization: Encodable {
    let scales: [Float]
    let zeroPoints: [Int]
    let dimension: Int
  }

  struct TensorReport: Encodable {
    let index: Int
    let name: String
    let type: String
    let shape: [Int]
    let shapeSignature: [Int]
    let quantization: Quantization?

    init(_ tensor: Tensor) {
      index = tensor.index
      name = tensor.name
      type = tensor.type.rawValue
      shape = tensor.shape.dimensions
      shapeSignature = tensor.shapeSignature
      quantization = tensor.quantization.map {
        Quantization(scales: $0.scales, zeroPoints: $0.zeroPoints, dimension: $0.quantizedDimension)
      }
    }
  }

  struct OperatorReport: Encodable {
    let name: String
    let custom: Bool
    let version: Int
    let types: [String]
    let count: Int
  }

  struct SubgraphReport: Encodable {
    let name: String
    let tensors: Int
    let operators: Int
    let inputs: Int
    let outputs: Int
  }

  struct SignatureReport: Encodable {
    struct Argument: Encodable {
      let name: String
      let tensor: Int
    }
    let key: String
    let subgraph: Int
    let inputs: [Argument]
    let outputs: [Argument]
  }

  struct MetadataReport: Encodable {
    struct TensorReport: Encodable {
      let name: String
      let description: String
      let content: String
      let mean: [Float]
      let std: [Float]
      let scoreThreshold: Float?
      let labelFile: String?

      init(_ tensor: Model.Metadata.TensorDescription) {
        name = tensor.name
        description = tensor.description
        content = tensor.content
        mean = tensor.normalizationMean
        std = tensor.normalizationStandardDeviation
        scoreThreshold = tensor.scoreThreshold
        labelFile = tensor.labelFile
      }
    }
    let name: String
    let description: String
    let version: String
    let author: String
    let license: String
    let inputs: [TensorReport]
    let outputs: [TensorReport]
  }

  struct MemoryReport: Encodable {
    struct Entry: Encodable {
      let name: String
      let block: Int
      let offset: Int
      let bytes: Int
      let first: Int
      let last: Int
    }
    let arenaBytes: Int
    let variableBytes: Int
    let packedBytes: Int
    let entries: [Entry]
  }

  /// Whether items of a batch may come from different callers.
  struct BatchReport: Encodable {
    let joins: Bool
    /// Why not, or why no more than `most`.
    let reason: String?
    /// The most items for which it is proved.
    let most: Int

    init(_ batching: Batching) {
      joins = batching.joins
      reason = batching.reason
      most = batching.count
    }
  }

  let file: String
  let bytes: Int
  let schemaVersion: Int
  let description: String
  let inputs: [TensorReport]
  let outputs: [TensorReport]
  let operators: [OperatorReport]
  let subgraphs: [SubgraphReport]
  let signatures: [SignatureReport]
  let metadata: MetadataReport?
  let associatedFiles: [String]
  let labels: [String]
  let damage: [String]
  let memoryPlan: MemoryReport?
  let plan: PlanReport?
  let multiplyAccumulates: Int?
  let batch: BatchReport?
  let runs: Bool
  let unsupported: [String]

  /// Reports about a file.
  init(
    path: String, labels: LabelMap? = nil, showsPlan: Bool, options: Interpreter.Options
  ) throws(ApusError) {
    try self.init(
      Model(contentsOfFile: path), path: path, labels: labels, showsPlan: showsPlan, options: options)
  }

  /// Reports about a model that was read from a file or a bundle.
  init(
    _ model: Model, path: String, labels given: LabelMap? = nil, showsPlan: Bool, options: Interpreter.Options
  ) throws(ApusError) {
    file = path
    bytes = model.byteCount
    schemaVersion = model.schemaVersion
    description = model.description
    operators = model.operatorCounts.map {
      OperatorReport(
        name: $0.name, custom: $0.isCustom, version: $0.version, types: $0.types.map(\.rawValue),
        count: $0.count)
    }
    subgraphs = model.subgraphs.map {
      SubgraphReport(
        name: $0.name, tensors: $0.tensorCount, operators: $0.operatorCount, inputs: $0.inputs.count,
        outputs: $0.outputs.count)
    }
    signatures = model.signatures.map { signature in
      SignatureReport(
        key: signature.key, subgraph: signature.subgraph,
        inputs: signature.inputs.map { .init(name: $0.name, tensor: $0.tensor.index) },
        outputs: signature.outputs.map { .init(name: $0.name, tensor: $0.tensor.index) })
    }
    metadata = model.metadata.map {
      MetadataReport(
        name: $0.name, description: $0.description, version: $0.version, author: $0.author,
        license: $0.license,
        inputs: $0.inputs.map(MetadataReport.TensorReport.init),
        outputs: $0.outputs.map(MetadataReport.TensorReport.init))
    }
    associatedFiles = model.associatedFiles
    labels =
      (given ?? LabelMap(of: model)).map { map in (0..<map.rowCount).map { map.name(inRow: $0) ?? "" } }
      ?? model.labels
    damage = model.metadataDamage
    let interpreter: Interpreter?
    let reasons: [String]
    (interpreter, reasons) = try Self.interpreter(for: model, options)
    // Functions that the main one does not call lack operators of their own.
    let known = Set(reasons)
    unsupported = reasons + model.unsupportedOperators.filter { !known.contains($0) }
    plan = showsPlan ? interpreter.map { PlanReport($0.plan) } : nil
    runs = interpreter != nil
    memoryPlan = interpreter.map { interpreter in
      // Where data decides shapes, this is the plan of the part before.
      let plan = interpreter.memoryPlan
      return MemoryReport(
        arenaBytes: plan.arenaByteCount, variableBytes: plan.variableByteCount,
        packedBytes: interpreter.packedWeightByteCount,
        entries: plan.entries.map {
          .init(
            name: $0.name, block: $0.block, offset: $0.offset, bytes: $0.byteCount,
            first: $0.lifetime.lowerBound, last: $0.lifetime.upperBound)
        })
    }
    multiplyAccumulates = interpreter?.multiplyAccumulates
    batch = try interpreter.map { interpreter throws(ApusError) in
      var options = options
      for (position, input) in interpreter.inputs.enumerated() { options.inputShapes[position] = input.shape }
      return BatchReport(try model.batching(upTo: Self.largestBatch, options: options))
    }
    inputs = (interpreter?.inputs ?? model.inputs).map(TensorReport.init)
    outputs = (interpreter?.outputs ?? model.outputs).map(TensorReport.init)
  }

  /// The size up to which joining is proved: the server's usual maximum.
  private static let largestBatch = 8

  /// The most inputs and outputs of a document.
  private static let maximumTensors = 1 << 16

  /// Refuses what would be a document far longer than the file: a model may list one tensor any number of times.
  func checkLength() throws(ApusError) {
    guard inputs.count + outputs.count <= Self.maximumTensors else {
      throw ApusError(
        .resourceLimit,
        "the model has \(inputs.count) inputs and \(outputs.count) outputs, together more than the limit of "
          + "\(Self.maximumTensors) for a JSON document")
    }
  }

  /// The prepared model, or the reason why it cannot run.
  ///
  /// Where a model leaves sizes open and cannot do with 1, some usual ones are tried.
  private static func interpreter(
    for model: Model, _ options: Interpreter.Options
  ) throws(ApusError) -> (Interpreter?, [String]) {
    do throws(ApusError) { return (try Interpreter(model: model, options: options), []) } catch {
      // A wrong name of kernels is the caller's mistake, not the model's.
      if error.code == .invalidArgument { throw error }
      // A preparation that takes too long takes as long with other sizes.
      if error.code == .resourceLimit { return (nil, error.reasons) }
      for size in [32, 224, 256, 512] {
        var options = options
        options.inputShapes = model.openInputShapes(size)
        if options.inputShapes.isEmpty { break }
        if let interpreter = try? Interpreter(model: model, options: options) { return (interpreter, []) }
      }
      return (nil, error.reasons)
    }
  }
}

extension Model {
  /// The shapes of those inputs that leave dimensions open, which become `size`; the first of several is a batch of 1.
  fileprivate func openInputShapes(_ size: Int) -> [Int: TensorShape] {
    var shapes: [Int: TensorShape] = [:]
    for (position, tensor) in inputs.enumerated() where tensor.shapeSignature.contains(where: { $0 < 0 }) {
      shapes[position] = TensorShape(
        tensor.shapeSignature.enumerated().map { axis, length in
          length >= 0 ? length : axis == 0 && tensor.shapeSignature.count > 1 ? 1 : size
        })
    }
    return shapes
  }
}
