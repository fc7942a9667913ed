// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels
import ApusRuntime
import Synchronization

/// A `.tflite` model: read, checked and immutable, shared freely between threads and interpreters.
///
/// ```swift
/// let model = try Model(contentsOfFile: "detect.tflite")
/// let picture = model.inputs[0]  // normalized_input_image_tensor (uint8 1×300×300×3)
/// let interpreter = try Interpreter(model: model)
/// ```
///
/// Interpreters of a model share its weights, in the file's form and packed for kernels.
public final class Model: Sendable {
  /// The decoded file, where ``CallResolution`` gives some tensors another quantization.
  package let file: ModelFile

  /// The description that the converter wrote into the file; often empty.
  public var description: String { file.description }

  /// The limits under which it was read.
  let limits: Limits

  private let constants: FileConstants
  /// For each operator code of the file; ``OperatorRegistration/unknown`` where this build has none.
  let registrations: [OperatorRegistration]
  /// For each subgraph: the types of its tensors; see ``CallResolution`` for where they are not the file's.
  let types: [[ElementType]]
  /// For each subgraph: whether it cannot have what `STABLEHLO_CASE` gives it; see ``CallResolution``.
  let isContested: [Bool]
  private let cache = Mutex(Cache())
  /// Where packed weights lie.
  let packedMemory: MemoryPool
  /// Tables of tensors for operators on constants.
  let spareTables = SpareTables()

  private final class KnownWeights: Sendable {
    let key: PackedWeightsKey
    let weights: PackedWeights

    init(_ weights: PackedWeights, _ key: PackedWeightsKey) {
      self.weights = weights
      self.key = key
    }
  }

  private struct Cache: Sendable {
    var packed: [KnownWeights] = []
    /// Memory of weights whose packing ended early.
    var interrupted: [KnownWeights] = []
    /// By subgraph; searched, as few subgraphs fold constants.
    var folded: [FoldedConstants] = []

    /// A linear search is faster here than hashing.
    func weights(_ key: PackedWeightsKey) -> PackedWeights? { packed.first { $0.key == key }?.weights }
  }

  /// Reads a model from a file.
  ///
  /// Large weights are read when kernels pack them, so a file of 256 KiB or more stays open as long as the model lives.
  /// Replacing, moving or removing the file is safe. If it is written to, later interpreters throw `unreadableFile`.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limits: How large the model may be.
  /// - Throws: `unreadableFile`, `malformedModel` with the place in the file, or `resourceLimit`.
  public convenience init(contentsOfFile path: String, limits: Limits = Limits()) throws(ApusError) {
    let began = Trace.now
    defer { Trace.record(.load, since: began) }
    let bytes: FileBytes
    do {
      bytes = try FileBytes(readingFileAt: path, maximumSize: limits.fileByteCount, keepsOpen: true)
    } catch {
      if let kind = FileKind(folder: path) {
        throw ApusError(
          .malformedModel, "the model '\(path)': \(kind.insteadOfModel)")
      }
      throw ApusError(error.kind == .limit ? .resourceLimit : .unreadableFile, error.message)
    }
    try self.init(bytes, ofFile: path, limits)
  }

  /// Maps a file into memory instead of reading it.
  ///
  /// Pages are loaded on use and shared with other processes. If another process truncates the file,
  /// this one dies of a bus error: use it only for files that never change.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limits: How large the model may be.
  /// - Throws: `unreadableFile`, `malformedModel` with the place in the file, or `resourceLimit`.
  public convenience init(mappingFile path: String, limits: Limits = Limits()) throws(ApusError) {
    let bytes: FileBytes
    do { bytes = try FileBytes(mappingFileAt: path, maximumSize: limits.fileByteCount) } catch {
      throw ApusError(error.kind == .limit ? .resourceLimit : .unreadableFile, error.message)
    }
    try self.init(bytes, ofFile: path, limits)
  }

  /// Reads a model from bytes, which are copied.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of a file.
  ///   - limits: How large the model may be.
  /// - Throws: `malformedModel` with the place in the bytes, or `resourceLimit`.
  public convenience init(bytes: [UInt8], limits: Limits = Limits()) throws(ApusError) {
    guard bytes.count <= limits.fileByteCount else {
      throw ApusError(.resourceLimit, "the model has \(bytes.count) bytes, at most \(limits.fileByteCount)")
    }
    try self.init(FileBytes(copying: bytes), limits)
  }

  private convenience init(_ bytes: FileBytes, ofFile path: String, _ limits: Limits) throws(ApusError) {
    do { try self.init(bytes, limits, path: path) } catch {
      throw ApusError(error.code, "the model '\(path)': \(error.message)")
    }
  }

  private init(_ bytes: FileBytes, _ limits: Limits, path: String = "") throws(ApusError) {
    let decoded: ModelFile
    do { decoded = try ModelFile(bytes, limits: limits.format) } catch {
      switch error.kind {
      case .unreadable: throw ApusError(.unreadableFile, error.message)
      case .malformed:
        if !ModelFile.hasIdentifier(bytes), let kind = FileKind(bytes, path: path) {
          throw ApusError(.malformedModel, kind.insteadOfModel)
        }
        if FileKind.isMangledToText(bytes) {
          throw ApusError(
            .malformedModel,
            "its bytes were changed as if they were text in UTF-8, so they are no model any more; copy the file again as binary"
          )
        }
        let advice =
          error.reachesOutside
          ? "; the file may be cut off: download or copy it again"
          : ModelFile.hasIdentifier(bytes) ? "" : "; it is no TensorFlow Lite model, or a damaged one"
        throw ApusError(.malformedModel, error.message + advice)
      case .limit: throw ApusError(.resourceLimit, error.message)
      }
    }
    self.limits = limits
    registrations = decoded.operatorCodes.map(OperatorRegistry.registration)
    let resolution = CallResolution(decoded, registrations)
    (file, types, isContested) = (resolution.file, resolution.types, resolution.isContested)
    packedMemory = MemoryPool(expectedByteCount: bytes.count)
    constants = try FileConstants(file)
  }

  // MARK: Description

  /// The inputs of the main subgraph, in order, with the file's shapes.
  public var inputs: [Tensor] { file.subgraphs[0].inputs.map { tensor($0, subgraph: 0) } }

  /// The outputs of the main subgraph, in order, with the file's shapes.
  public var outputs: [Tensor] { file.subgraphs[0].outputs.map { tensor($0, subgraph: 0) } }

  /// The inputs of a signature's interpreter, in order, with the file's shapes; those of the main subgraph for nil.
  package func inputs(ofSignature key: String?) throws(ApusError) -> [Tensor] {
    let subgraph = try Interpreter.subgraph(ofSignature: key, in: self)
    return file.subgraphs[subgraph].inputs.map { tensor($0, subgraph: subgraph) }
  }

  /// The functions that can be called by name, with their inputs and outputs.
  public var signatures: [Signature] {
    file.signatures.map { entry in
      Signature(
        key: entry.key, subgraph: entry.subgraph,
        inputs: entry.inputs.map {
          .init(name: $0.name, tensor: tensor($0.tensor, subgraph: entry.subgraph))
        },
        outputs: entry.outputs.map {
          .init(name: $0.name, tensor: tensor($0.tensor, subgraph: entry.subgraph))
        })
    }
  }

  /// The signature of the model's main function, which runs where none is named; nil if the function has none.
  ///
  /// Of several, it is `serving_default`, or else the first. A signature of another function is never it.
  public var mainSignature: Signature? { signature(ofSubgraph: 0) }

  /// The signature that names the inputs and outputs of a subgraph; nil if there is none.
  func signature(ofSubgraph subgraph: Int) -> Signature? {
    let all = signatures.filter { $0.subgraph == subgraph }
    return all.first { $0.key == "serving_default" } ?? all.first
  }

  /// Every operator that cannot run, with the reason, such as
  /// `operator #12, FooBar: version 1 of this custom operator is not supported`; empty if all can.
  ///
  /// Only names, versions and types are checked. Preparing an ``Interpreter`` may find more, where shapes decide.
  public var unsupportedOperators: [String] { unsupportedOperators(besides: [:]) }

  /// Every operator that cannot run, with the reason, if the model may also use custom operators of yours.
  public func unsupportedOperators(besides custom: [CustomOperator]) -> [String] {
    unsupportedOperators(besides: custom.registrations)
  }

  /// Every operator that keeps one function from running, with the reason; those of other functions do not matter to it.
  ///
  /// - Parameters:
  ///   - custom: Custom operators of yours that the function may use.
  ///   - key: The signature of the function; nil for the main subgraph.
  /// - Throws: `invalidArgument` if there is no such signature.
  public func unsupportedOperators(besides custom: [CustomOperator] = [], ofSignature key: String?)
    throws(ApusError) -> [String]
  {
    unsupportedOperators(
      besides: custom.registrations, reachedFrom: try Interpreter.subgraph(ofSignature: key, in: self))
  }

  /// Every operator that cannot run, of all subgraphs or of those that one runs, itself included.
  func unsupportedOperators(
    besides custom: [String: OperatorRegistration], reachedFrom start: Int? = nil
  ) -> [String] {
    var reasons: [String] = []
    let runs = start.map { SubgraphCalls.reached(from: $0, in: self) } ?? SubgraphCalls.runnable(in: self)
    for (position, subgraph) in file.subgraphs.enumerated() where runs[position] {
      for (index, node) in subgraph.operators.enumerated() {
        if let reason = unsupportedReason(of: node, at: index, in: subgraph, types[position], custom) {
          reasons.append(position == 0 ? reason : "subgraph \(position), \(reason)")
        }
      }
    }
    return reasons
  }

  /// A tensor, described, with the type that it has in a run, and the shape that a plan gives it, if known.
  package func tensor(_ index: Int, subgraph: Int, shape: TensorShape? = nil) -> Tensor {
    let entry = file.subgraphs[subgraph].tensors[index]
    return Tensor(
      index: index, name: entry.name, type: types[subgraph][index],
      shape: shape ?? TensorShape(entry.shape.map { $0 < 0 ? 1 : $0 }),
      shapeSignature: entry.shapeSignature.isEmpty ? entry.shape : entry.shapeSignature,
      quantization: entry.parameters, isConstant: entry.data != nil && !entry.isVariable,
      isVariable: entry.isVariable, sparsity: entry.sparsity.map(Sparsity.init))
  }

  // MARK: Constants

  /// A tensor's values in the file; nil if it has none.
  func constant(subgraph: Int, tensor: Int) -> Constant? {
    constants[subgraph, tensor]
  }

  /// The bytes of a constant as runs read them: without gaps, and a byte for each element below eight bits; nil if the file has none.
  ///
  /// - Throws: `unreadableFile` if the file can no longer be read.
  @_spi(TensorFlowLite) public func constantBytes(ofTensor tensor: Int, subgraph: Int) throws(ApusError)
    -> [UInt8]?
  {
    try constant(subgraph: subgraph, tensor: tensor)?.values(as: UInt8.self)
  }

  /// The numbers of a small constant of integers in the main subgraph, such as a permutation; nil for other tensors.
  package func constantIntegers(of tensor: Int) -> [Int]? {
    guard let constant = constant(subgraph: 0, tensor: tensor), constant.byteCount <= 1 << 10 else {
      return nil
    }
    switch file.subgraphs[0].tensors[tensor].type {
    case .int32: return (try? constant.values(as: Int32.self))?.map { Int($0) }
    case .int64: return (try? constant.values(as: Int64.self))?.map { Int($0) }
    default: return nil
    }
  }

  /// The minimum and the maximum of a constant of floats in the main subgraph, or of a small one of integers; nil for other tensors,
  /// for one with NaN, and for one of more elements than the limit.
  package func constantBounds(of tensor: Int, limit: Int = 1 << 20) throws(ApusError) -> ClosedRange<Float>? {
    if let integers = constantIntegers(of: tensor), let minimum = integers.min(), let maximum = integers.max()
    {
      return Float(minimum)...Float(maximum)
    }
    guard let values = try floats(of: tensor, limit: limit), let minimum = values.min(),
      let maximum = values.max(), minimum <= maximum, !values.contains(where: \.isNaN)
    else { return nil }
    return minimum...maximum
  }

  /// The numbers of a small constant of floats in the main subgraph, such as one for each channel; nil for other tensors.
  package func constantFloats(of tensor: Int) -> [Float]? { (try? floats(of: tensor, limit: 1 << 8)) ?? nil }

  private func floats(of tensor: Int, limit: Int) throws(ApusError) -> [Float]? {
    let type = file.subgraphs[0].tensors[tensor].type
    guard [.float32, .float16].contains(type), let constant = constant(subgraph: 0, tensor: tensor),
      constant.byteCount <= 4 * limit
    else { return nil }
    return type == .float32
      ? try constant.values(as: Float.self)
      : try constant.values(as: UInt16.self).map { Float(halfBits: $0) }
  }

  // MARK: Operators

  /// Why an operator cannot run, judging by its code, version and types; nil if they allow it.
  private func unsupportedReason(
    of node: OperatorEntry, at index: Int, in subgraph: SubgraphEntry, _ types: [ElementType],
    _ custom: [String: OperatorRegistration]
  ) -> String? {
    let code = file.operatorCodes[node.operatorCode]
    let own = code.code == .custom ? custom[code.name] : nil
    guard let registration = own ?? self.registration(node.operatorCode) else {
      let kind = code.code == .custom ? "custom operator" : "operator"
      return
        "operator #\(index), \(code.name.brief): version \(code.version) of this \(kind) is not supported"
        + (ForeignOperators.advice(for: code.customName).map { "; \($0)" } ?? "")
    }
    guard registration.versions.contains(code.version) else {
      return
        "operator #\(index), \(code.name.brief): version \(code.version) is not supported, only "
        + "\(registration.versions.lowerBound) to \(registration.versions.upperBound)"
    }
    return registration.unsupportedReason(of: node, in: subgraph, types).map {
      "operator #\(index), \(code.name.brief): \($0)"
    }
  }

  /// The registration of a supported operator.
  func registration(of node: OperatorEntry, at index: Int) throws(ApusError) -> OperatorRegistration {
    guard let registration = registration(node.operatorCode) else {
      let code = file.operatorCodes[node.operatorCode]
      let advice = ForeignOperators.advice(for: code.customName).map { "; \($0)" } ?? ""
      throw ApusError(
        .unsupportedOperator, "operator #\(index), \(code.name.brief): is not supported\(advice)")
    }
    return registration
  }

  private func registration(_ code: Int) -> OperatorRegistration? {
    let registration = registrations[code]
    return registration === OperatorRegistration.unknown ? nil : registration
  }

  // MARK: What interpreters share

  /// The packed form of constant weights; nil if they are not packed yet.
  func knownWeights(_ key: PackedWeightsKey) -> PackedWeights? { cache.withLock { $0.weights(key) } }

  /// Keeps the packed form of constant weights for later requests.
  ///
  /// - Returns: what another interpreter has kept in the meantime, or else `made`.
  func keepPacked(_ made: PackedWeights, _ key: PackedWeightsKey) -> PackedWeights {
    cache.withLock { cache in
      if let known = cache.weights(key) { return known }
      cache.packed.append(KnownWeights(made, key))
      return made
    }
  }

  /// Keeps memory of weights whose packing ended early.
  func keepInterrupted(_ made: PackedWeights, _ key: PackedWeightsKey) {
    made.stopSignal = nil
    cache.withLock { $0.interrupted.append(KnownWeights(made, key)) }
  }

  /// The memory of weights whose packing ended early, to be packed anew; nil if there is none.
  func takeInterrupted(_ key: PackedWeightsKey, byteCount: Int) -> PackedWeights? {
    cache.withLock { cache in
      let place = cache.interrupted.firstIndex { $0.key == key && $0.weights.byteCount == byteCount }
      return place.map { cache.interrupted.remove(at: $0).weights }
    }
  }

  /// The size of packed weights so far, in bytes.
  package var packedByteCount: Int {
    cache.withLock { $0.packed.reduce(0) { $0 + $1.weights.byteCount } }
  }

  /// Folded constants, if all of them are known.
  func foldedConstants(_ wiring: Wiring, tensors: [Int]) -> [Constant]? {
    cache.withLock { cache in
      cache.folded.first { $0.subgraph == wiring.index }?.constants(tensors)
    }
  }

  /// Keeps folded constants.
  func remember(_ constants: [Constant], _ wiring: Wiring, tensors: [Int]) {
    cache.withLock { cache in
      let known = cache.folded.firstIndex { $0.subgraph == wiring.index }
      if known == nil { cache.folded.append(FoldedConstants(wiring)) }
      cache.folded[known ?? cache.folded.count - 1].add(constants, tensors)
    }
  }
}

extension TensorEntry {
  /// The file's quantization; operators check what they use.
  var parameters: QuantizationParameters? { quantization.flatMap { QuantizationParameters($0) } }
}

extension QuantizationParameters {
  /// The file's parameters; nil without scales.
  init?(_ entry: QuantizationEntry) {
    guard entry.scaleCount > 0 else { return nil }
    self.init(
      scales: entry.scales, zeroPoints: (0..<entry.scaleCount).map { entry.zeroPoint($0) },
      quantizedDimension: entry.quantizedDimension)
  }
}

/// Identifies packed weights within a model.
struct PackedWeightsKey: Equatable, Sendable {
  /// The weights; compared first, because few keys share them.
  let tensor: Int
  /// All that is packed with them.
  let others: [Int]
  let subgraph: Int
  let layout: WeightLayout
}

/// A function of a model, called by name.
public struct Signature: Hashable, Sendable {
  /// A tensor with the name that the signature gives it.
  public struct Argument: Hashable, Sendable {
    /// The name in the signature.
    public let name: String
    /// The tensor that it names.
    public let tensor: Tensor
  }

  /// The signature's name, for example `serving_default`.
  public let key: String
  /// The subgraph that it runs.
  public let subgraph: Int
  /// Its inputs.
  public let inputs: [Argument]
  /// Its outputs.
  public let outputs: [Argument]
}
