// SPDX-License-Identifier: Apache-2.0

@_spi(TensorFlowLite) import Apus

/// A subgraph of a model with its tensors, in TensorFlow Lite's order of calls: shapes first, then memory, then data.
///
/// Clients' tensors have memory of their own: inputs are copied into the engine before a run, outputs out of it afterwards.
/// So a client's pointers stay valid whatever the engine does with its memory.
final class Session: @unchecked Sendable {
  private let model: Model
  private let subgraph: Int
  private let signature: String?
  private let options: InterpreterOptions
  private let variables: SharedVariables
  private let reporter: ErrorReporter
  private let exclusion: Exclusion

  /// The file's tensors.
  let tensors: [Tensor]
  /// The tensors' indices.
  let inputIndices: [Int], outputIndices: [Int]

  private var shapes: [TensorShape]
  private var resized: Set<Int> = []
  private var engine: Interpreter?
  private var records: [Int: TensorRecord] = [:]
  private var inputRecords: [TensorRecord] = [], outputRecords: [TensorRecord] = []
  /// The tensors between the operators whose values go into memory of the client after each run.
  private var lentBetween: Set<Int> = []
  /// Whether the outputs have the same shapes in every run, until the next allocation.
  private var hasFixedShapes = false

  init(
    _ model: Model, subgraph: Int, signature: String?, options: InterpreterOptions,
    variables: SharedVariables, exclusion: Exclusion
  ) throws(Refusal) {
    self.model = model
    self.subgraph = subgraph
    self.signature = signature
    self.options = options
    self.variables = variables
    self.exclusion = exclusion
    reporter = options.reporter
    let description = model.subgraphs[subgraph]
    inputIndices = description.inputs.map(\.index)
    outputIndices = description.outputs.map(\.index)
    shapes = description.inputs.map(\.shape)
    do throws(ApusError) { tensors = try model.tensors(ofSubgraph: subgraph) } catch { throw Refusal(error) }
    for index in inputIndices { inputRecords.append(try record(index)) }
    for index in outputIndices { outputRecords.append(try record(index)) }
  }

  deinit { for record in records.values { record.retire() } }

  // MARK: Tensors

  /// The structure of a tensor; made when it is first asked for, and the same ever after.
  private func record(_ index: Int) throws(Refusal) -> TensorRecord {
    if let record = records[index] { return record }
    let record = try TensorRecord(
      TensorDescription(tensors[index]), shape: tensors[index].shape, reporter: reporter, exclusion: exclusion
    )
    records[index] = record
    return record
  }

  func input(_ position: Int) throws(Refusal) -> TensorRecord {
    guard inputRecords.indices.contains(position) else {
      throw Refusal("there is no input \(position): the model has \(inputRecords.count)")
    }
    return inputRecords[position]
  }

  func output(_ position: Int) throws(Refusal) -> TensorRecord {
    guard outputRecords.indices.contains(position) else {
      throw Refusal("there is no output \(position): the model has \(outputRecords.count)")
    }
    return outputRecords[position]
  }

  /// Any tensor. Constants have their values; variables and, if all are preserved, results in between those of this moment.
  func tensor(_ index: Int) throws(Refusal) -> TensorRecord {
    guard tensors.indices.contains(index) else {
      throw Refusal("there is no tensor \(index): the model has \(tensors.count)")
    }
    let record = try record(index)
    if !inputIndices.contains(index), !outputIndices.contains(index) { try refresh(record) }
    return record
  }

  /// The indices of the tensors that keep their values between runs.
  var variableIndices: [Int] { tensors.filter(\.isVariable).map(\.index) }

  /// Whether the values of all tensors are kept after a run.
  private var preservesAllTensors: Bool { options.preservesAllTensors || !lentBetween.isEmpty }

  /// Whether another engine may take the place of this one: there is nothing that it remembers from run to run, or shares.
  private var canStartAnew: Bool {
    guard model.subgraphs.count == 1, variableIndices.isEmpty,
      let operators = try? model.operators(ofSubgraph: subgraph)
    else { return false }
    return !operators.contains { $0.name == "VAR_HANDLE" }
  }

  /// Takes memory of a client for a tensor, from the next allocation on. The engine plans the memory of tensors between the operators itself:
  /// it keeps their values for the client, if it is asked before it plans.
  func lend(_ memory: UnsafeMutableRawBufferPointer, toTensor index: Int) throws(Refusal) {
    let record = try tensor(index)
    let isBetween = !inputIndices.contains(index) && !outputIndices.contains(index)
    if isBetween {
      guard !record.tensor.isConstant, !record.tensor.isVariable else {
        throw Refusal("\(record.tensor.name) is a constant or a variable, whose memory is the engine's")
      }
      guard preservesAllTensors || engine == nil && variables.owner == nil || canStartAnew else {
        throw Refusal(
          "\(record.tensor.name) is neither an input nor an output: lend its memory before tensors are allocated, or preserve all tensors"
        )
      }
      if !preservesAllTensors { (engine, variables.owner) = (nil, nil) }
    }
    guard memory.count >= record.byteCount else {
      throw Refusal("\(record.tensor.name) takes \(record.byteCount) bytes, not \(memory.count)")
    }
    if isBetween { lentBetween.insert(index) }
    record.lend(memory)
    if engine != nil { try record.allocate() }
  }

  /// Copies the values of a tensor that is neither an input nor an output.
  private func refresh(_ record: TensorRecord) throws(Refusal) {
    let tensor = record.tensor
    if tensor.isConstant { return try readConstant(record) }
    guard let engine, resized.isEmpty else { return }
    // The planned shape is known even where the memory is used for something else.
    try record.setShape(engine.tensors[tensor.index].shape)
    guard tensor.isVariable || preservesAllTensors else { return }
    try record.allocate()
    guard let bytes = record.bytes, bytes.count > 0 else { return }
    do throws(ApusError) {
      try engine.withBytes(of: tensor) { source in tensor.type.pack(source, into: bytes) }
    } catch {
      record.setData(nil)
    }
  }

  /// Copies the values of a constant, which are those of the file, allocated or not.
  private func readConstant(_ record: TensorRecord) throws(Refusal) {
    guard record.data == nil else { return }
    let tensor = record.tensor
    try record.allocate()
    guard let bytes = record.bytes, bytes.count > 0 else { return }
    do throws(ApusError) {
      guard let values = try model.constantBytes(ofTensor: tensor.index, subgraph: subgraph) else {
        return record.setData(nil)
      }
      values.withUnsafeBytes { tensor.type.pack($0, into: bytes) }
    } catch {
      record.setData(nil)
    }
  }

  // MARK: Calls

  /// Whether all is ready for a run.
  private var isAllocated: Bool { engine != nil && resized.isEmpty }

  /// Sets the shape of an input; with `isStrict`, only where the file leaves it open.
  func resizeInput(_ position: Int, to dimensions: [Int32]?, isStrict: Bool = false) throws(Refusal) {
    let record = try input(position)
    guard let dimensions, dimensions.allSatisfy({ $0 >= 0 }) else {
      throw Refusal("input \(position): the dimensions are NULL, or one is below zero")
    }
    let signature = record.tensor.shapeSignature
    if isStrict {
      guard signature.count == dimensions.count,
        zip(signature, dimensions).allSatisfy({ $0 < 0 || $0 == Int($1) })
      else {
        // LiteRT's sentence, which programs look for.
        throw Refusal(
          "input \(position): \(dimensions) does not fit \(signature). ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1."
        )
      }
    }
    let wanted = TensorShape(dimensions.map(Int.init))
    if wanted == shapes[position], engine != nil, !resized.contains(position) { return }
    guard wanted.elementCount <= Int(Int32.max) else {
      throw Refusal("input \(position): \(wanted) has more than \(Int32.max) elements")
    }
    try record.setShape(wanted)
    shapes[position] = wanted
    resized.insert(position)
  }

  /// Prepares the engine for the shapes of the inputs, and gives the tensors memory; nothing happens where it is done.
  func allocate() throws(Refusal) {
    if isAllocated { return }
    do throws(ApusError) {
      if let engine {
        try engine.resizeInputs(Dictionary(uniqueKeysWithValues: resized.map { ($0, shapes[$0]) }))
      } else {
        engine = try makeEngine()
      }
    } catch { throw Refusal(error) }
    guard let engine else { return }
    hasFixedShapes = engine.hasFixedShapes
    for (position, record) in inputRecords.enumerated() {
      try record.setShape(engine.inputs[position].shape)
      try record.allocate()
      do throws(ApusError) { try engine.readInput(position, into: record) } catch { throw Refusal(error) }
    }
    try refreshOutputs(afterRun: false)
    resized = []
  }

  private func makeEngine() throws(ApusError) -> Interpreter {
    var shapes: [Int: TensorShape] = [:]
    for (position, index) in inputIndices.enumerated() where self.shapes[position] != tensors[index].shape {
      shapes[position] = self.shapes[position]
    }
    if let owner = variables.owner {
      return try Interpreter(sharingVariablesOf: owner, signature: signature, inputShapes: shapes)
    }
    let engine = try Interpreter(
      model: model,
      options: options.engineOptions(inputShapes: shapes, preservesAllTensors: preservesAllTensors),
      signature: signature)
    variables.owner = engine
    return engine
  }

  /// Runs the subgraph.
  func invoke(_ cancellation: Cancellation?) throws(Refusal) {
    guard let engine, isAllocated else {
      throw Refusal("Invoke called on model that is not ready.")
    }
    do throws(ApusError) {
      for (position, record) in inputRecords.enumerated() {
        guard let bytes = record.bytes, bytes.count > 0 else { continue }
        let type = record.tensor.type
        try engine.withInputBytes(at: position) { target in
          target.withUnsafeMutableBytes { type.unpack(UnsafeRawBufferPointer(bytes), into: $0) }
        }
      }
      try engine.invoke(cancellation: cancellation)
    } catch { throw Refusal(error) }
    if hasFixedShapes {
      for position in outputRecords.indices { try readOutput(position) }
    } else {
      try refreshOutputs(afterRun: true)
    }
    for index in lentBetween { try refresh(record(index)) }
  }

  /// Resets the tensors that keep their values between runs. Resource variables stay as they are.
  func resetVariables() { engine?.resetVariableTensors() }

  /// Makes or changes the memory of the outputs, whose shapes may have changed, and copies their values. An output that a run gives
  /// another shape than the allocation is dynamic.
  private func refreshOutputs(afterRun: Bool) throws(Refusal) {
    guard let engine else { return }
    for (position, output) in engine.outputs.enumerated() {
      let record = outputRecords[position]
      if inputIndices.contains(record.tensor.index) { continue }
      let count: Int
      do throws(ApusError) { count = try engine.withOutputBytes(at: position) { $0.byteCount } } catch {
        throw Refusal(error)
      }
      let isKnown = count == (output.type.byteCount ?? 0) &* output.shape.elementCount
      if !isKnown || (afterRun && output.shape.dimensions.map({ Int32(clamping: $0) }) != record.dimensions) {
        record.setAllocation(.dynamic)
      }
      try record.setShape(output.shape)
      if isKnown {
        try record.allocate()
        try readOutput(position)
      } else {
        record.setData(nil)
      }
    }
  }

  private func readOutput(_ position: Int) throws(Refusal) {
    let record = outputRecords[position]
    guard let engine, let bytes = record.bytes, bytes.count > 0, !inputIndices.contains(record.tensor.index)
    else { return }
    do throws(ApusError) {
      try engine.withOutputBytes(at: position) { source in
        source.withUnsafeBytes { record.tensor.type.pack($0, into: bytes) }
      }
    } catch { throw Refusal(error) }
  }
}

extension Interpreter {
  /// Copies an input's present values to a client's tensor.
  fileprivate func readInput(_ position: Int, into record: TensorRecord) throws(ApusError) {
    guard let bytes = record.bytes, bytes.count > 0, record.lent == nil else { return }
    let type = record.tensor.type
    try withInputBytes(at: position) { source in
      source.withUnsafeMutableBytes { type.pack(UnsafeRawBufferPointer($0), into: bytes) }
    }
  }

  /// Lends the bytes of any tensor to `body`, whatever its type.
  fileprivate func withBytes(of tensor: TensorDescription, _ body: (UnsafeRawBufferPointer) -> Void)
    throws(ApusError)
  {
    func lend<T: TensorElement>(_: T.Type) throws(ApusError) {
      try withTensor(at: tensor.index, as: T.self) { span in span.bytes.withUnsafeBytes { body($0) } }
    }
    switch tensor.type {
    case .float32: try lend(Float.self)
    case .float64: try lend(Double.self)
    case .uint8, .uint4: try lend(UInt8.self)
    case .int8, .int4, .int2: try lend(Int8.self)
    case .bool: try lend(Bool.self)
    case .int16: try lend(Int16.self)
    case .uint16, .float16, .bfloat16: try lend(UInt16.self)
    case .int32: try lend(Int32.self)
    case .uint32: try lend(UInt32.self)
    case .int64: try lend(Int64.self)
    case .uint64: try lend(UInt64.self)
    default:
      throw ApusError(.invalidArgument, "\(tensor.name) is \(tensor.type), whose elements cannot be read")
    }
  }
}
