// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// The engine behind an ``Interpreter`` or a ``SignatureRunner``, with TensorFlow Lite's order of calls: shapes first,
/// then memory, then data.
///
/// A resized input takes effect at the next ``allocate()``. Until then outputs keep the values of the last run.
final class Session {
  /// A failure of the session. Its two callers translate it into their own errors.
  enum Failure: Error {
    case dataCount(provided: Int, required: Int)
    case dataType
    /// The memory of a tensor is not allocated, or not since it was resized.
    case notAllocated
    /// The size of an output is known only after a run.
    case notInvoked
    /// A dimension is below zero or above `Int32.max`, or is another than the file fixes.
    case impossibleShape
    case engine(ApusError)
  }

  private let model: Apus.Model
  private let signature: String?
  private let options: Interpreter.Options
  private let variables: SharedVariables
  /// The inputs with the shapes that they have, or shall have after the next allocation.
  private var shapes: [TensorShape]
  private var resized: Set<Int> = []
  private var engine: Apus.Interpreter?

  /// The inputs and outputs as the file has them.
  let inputs: [Apus.Tensor], outputs: [Apus.Tensor]

  init(
    model: Apus.Model, options: Interpreter.Options, signature: Apus.Signature? = nil,
    variables: SharedVariables
  ) {
    self.model = model
    self.options = options
    self.variables = variables
    self.signature = signature?.key
    let subgraph = model.subgraphs[signature?.subgraph ?? 0]
    inputs = subgraph.inputs
    outputs = subgraph.outputs
    shapes = inputs.map(\.shape)
  }

  /// Whether all is ready for a run.
  var isAllocated: Bool { engine != nil && resized.isEmpty }

  /// Sets the shape of an input; with `isStrict`, only where the file leaves it open. Setting the shape that it has changes nothing.
  func resizeInput(_ index: Int, to shape: Tensor.Shape, isStrict: Bool = false) throws(Failure) {
    guard shape.dimensions.allSatisfy({ (0...Int(Int32.max)).contains($0) }) else {
      throw .impossibleShape
    }
    let signature = inputs[index].shapeSignature
    let isOpen =
      signature.count == shape.rank && zip(signature, shape.dimensions).allSatisfy { $0 < 0 || $0 == $1 }
    guard isOpen || !isStrict else { throw .impossibleShape }
    let wanted = TensorShape(shape.dimensions)
    if wanted == shapes[index], engine != nil, !resized.contains(index) { return }
    shapes[index] = wanted
    resized.insert(index)
  }

  /// Makes the engine ready for the shapes of the inputs; nothing happens where it is.
  func allocate() throws(Failure) {
    if isAllocated { return }
    do throws(ApusError) {
      if let engine {
        try engine.resizeInputs(Dictionary(uniqueKeysWithValues: resized.map { ($0, shapes[$0]) }))
      } else {
        engine = try makeEngine()
      }
    } catch { throw .engine(error) }
    resized = []
  }

  private func makeEngine() throws(ApusError) -> Apus.Interpreter {
    let changed = shapes.indices.filter { shapes[$0] != inputs[$0].shape }
    let inputShapes = Dictionary(uniqueKeysWithValues: changed.map { ($0, shapes[$0]) })
    if let owner = variables.owner {
      return try Apus.Interpreter(sharingVariablesOf: owner, signature: signature, inputShapes: inputShapes)
    }
    let engine = try Apus.Interpreter(
      model: model, options: options.engineOptions(inputShapes: inputShapes), signature: signature)
    variables.owner = engine
    return engine
  }

  /// Runs the model.
  func invoke() throws(Failure) {
    guard let engine, isAllocated else { throw .notAllocated }
    do throws(ApusError) { try engine.invoke() } catch { throw .engine(error) }
  }

  /// Writes an input, and describes it.
  func copy(_ data: Data, toInput index: Int) throws(Failure) -> Tensor {
    guard let required = requiredByteCount(index) else { throw .dataType }
    guard data.count == required else { throw .dataCount(provided: data.count, required: required) }
    guard let engine, !resized.contains(index) else { throw .notAllocated }
    do throws(ApusError) {
      try engine.withInputBytes(at: index) { bytes in data.copy(into: &bytes) }
    } catch { throw .engine(error) }
    guard let tensor = Tensor(engine.inputs[index], data: data) else { throw .dataType }
    return tensor
  }

  /// The bytes of an input of the shape that it has or shall have; nil for elements that are not plain bytes.
  private func requiredByteCount(_ index: Int) -> Int? {
    inputs[index].type.byteCount.map {
      let (count, overflow) = shapes[index].elementCount.multipliedReportingOverflow(by: $0)
      return overflow ? .max : count
    }
  }

  /// An input, with its bytes.
  func input(_ index: Int) throws(Failure) -> Tensor {
    guard let engine, !resized.contains(index) else { throw .notAllocated }
    return try tensor(engine.inputs[index]) { () throws(ApusError) in
      try engine.withInputBytes(at: index) { Data(copying: $0.bytes) }
    }
  }

  /// An output, with its bytes.
  func output(_ index: Int) throws(Failure) -> Tensor {
    guard let engine else { throw .notAllocated }
    let tensor = try tensor(engine.outputs[index]) { () throws(ApusError) in
      try engine.withOutputBytes(at: index) { Data(copying: $0) }
    }
    let elementByteCount = engine.outputs[index].type.byteCount ?? 1
    guard tensor.data.count == engine.outputs[index].shape.elementCount &* elementByteCount else {
      throw .notInvoked
    }
    return tensor
  }

  private func tensor(
    _ description: Apus.Tensor, _ read: () throws(ApusError) -> Data
  ) throws(Failure) -> Tensor {
    let data: Data
    do throws(ApusError) { data = try read() } catch { throw .engine(error) }
    guard let tensor = Tensor(description, data: data) else { throw .dataType }
    return tensor
  }
}
