// SPDX-License-Identifier: Apache-2.0

import Apus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The state that a client's operator keeps for one node of a model: the result of its `init` function, until
/// `free` gets it.
final class NodeState: @unchecked Sendable {
  let data: UnsafeMutableRawPointer?
  private let callbacks: OperatorCallbacks
  private let context: NodeContext

  init(_ callbacks: OperatorCallbacks, options: [UInt8], threadCount: Int, _ reporter: ErrorReporter)
    throws(Refusal)
  {
    self.callbacks = callbacks
    context = try NodeContext([], threadCount: threadCount, place: callbacks.name, reporter: reporter)
    data = callbacks.initialize(context.structure, options)
  }

  deinit {
    if data != nil { callbacks.free(context.structure, data) }
  }
}

/// A node of a model whose operator is the client's, prepared for the shapes of its inputs.
final class PreparedNode: @unchecked Sendable {
  /// The outputs' shapes, as the operator wants them.
  let outputShapes: [TensorShape]

  private let callbacks: OperatorCallbacks
  private let state: NodeState
  private let context: NodeContext
  private let node: NodeReference
  private let inputCount: Int

  init(
    _ node: CustomOperatorNode, _ callbacks: OperatorCallbacks, _ state: NodeState, _ reporter: ErrorReporter
  )
    throws(ApusError)
  {
    self.callbacks = callbacks
    self.state = state
    let (inputs, outputs) = (node.inputs, node.outputs)
    inputCount = inputs.count
    do throws(Refusal) {
      context = try NodeContext(
        inputs + outputs, threadCount: node.threadCount, place: callbacks.name, reporter: reporter)
      self.node = try NodeReference(
        inputs: inputs.indices.map { inputs[$0] == nil ? -1 : $0 },
        outputs: outputs.indices.map { inputs.count + $0 }, data: state.data, options: node.optionBytes)
      for (position, input) in inputs.enumerated() {
        if let input, input.isConstant { try context.tensor(position).fill(node, position) }
      }
    } catch { throw node.malformed(error.message) }
    guard callbacks.prepare(context.structure, self.node.structure) == Status.ok else {
      throw node.malformed("its prepare function returned an error")
    }
    context.isPreparing = false
    var shapes: [TensorShape] = []
    for position in outputs.indices {
      let structure = context.tensors[inputs.count + position]?.structure
      let allocation = structure?.load(fromByteOffset: TensorLayout.allocationType, as: Int32.self)
      guard allocation != TensorRecord.Allocation.dynamic.rawValue else {
        throw node.unsupported(
          "its prepare function leaves the size of output \(position) to the run (kTfLiteDynamic), which is not supported"
        )
      }
      shapes.append(TensorShape((context.tensors[inputs.count + position]?.dimensions ?? []).map(Int.init)))
    }
    outputShapes = shapes
    do throws(Refusal) {
      for tensor in context.tensors.dropFirst(inputs.count + outputs.count) { try tensor?.allocate() }
    } catch { throw node.malformed(error.message) }
  }

  /// Calls the operator with the engine's memory.
  func invoke(_ tensors: borrowing CustomOperatorTensors) throws(ApusError) {
    for position in 0..<inputCount {
      guard let record = context.tensors[position] else { continue }
      // The memory stays in place until the run ends.
      record.setData(
        try tensors.inputBytes(position).withUnsafeBytes {
          UnsafeMutableRawPointer(mutating: $0.baseAddress)
        })
    }
    for position in outputShapes.indices {
      var bytes = try tensors.outputBytes(position)
      context.tensors[inputCount + position]?.setData(bytes.withUnsafeMutableBytes { $0.baseAddress })
    }
    defer {
      for position in 0..<inputCount + outputShapes.count { context.tensors[position]?.setData(nil) }
    }
    let status = callbacks.invoke(context.structure, node.structure)
    guard status == Status.ok else {
      throw ApusError(.invalidData, "\(callbacks.name): its invoke function returned \(status)")
    }
  }
}

extension TensorRecord {
  /// Copies the values of a constant, so that an operator sees them while it is prepared.
  fileprivate func fill(_ node: CustomOperatorNode, _ position: Int) throws(Refusal) {
    func copy<T: TensorElement & Equatable>(_: T.Type) throws(ApusError) {
      let values = try node.values(ofInput: position, as: T.self)
      guard let bytes else { return }
      values.withUnsafeBytes { tensor.type.pack($0, into: bytes) }
    }
    try allocate()
    do throws(ApusError) {
      switch tensor.type {
      case .float32: try copy(Float.self)
      case .int32: try copy(Int32.self)
      case .int64: try copy(Int64.self)
      case .uint8: try copy(UInt8.self)
      case .int8: try copy(Int8.self)
      case .int16: try copy(Int16.self)
      case .bool: try copy(Bool.self)
      default: setData(nil)
      }
    } catch {
      // The values are there when it runs.
      setData(nil)
    }
  }
}

/// A `TfLiteNode`.
final class NodeReference: @unchecked Sendable {
  let structure: UnsafeMutableRawPointer
  let inputs: CIntegers, outputs: CIntegers
  let data: UnsafeMutableRawPointer?
  /// The options, which the client's functions read.
  let options: UnsafeMutableRawBufferPointer
  private(set) var temporaries = CIntegers([])

  private let arrays: [UnsafeMutableRawPointer?]
  private var temporaryArray: UnsafeMutableRawPointer?

  init(inputs: [Int], outputs: [Int], data: UnsafeMutableRawPointer?, options: [UInt8]) throws(Refusal) {
    guard let memory = StructureMemory.shared.allocate(NodeLayout.size) else {
      throw Refusal("the system refuses memory")
    }
    structure = memory
    self.inputs = CIntegers(inputs)
    self.outputs = CIntegers(outputs)
    self.data = data
    self.options = .allocate(byteCount: max(options.count, 1), alignment: 16)
    self.options.copyBytes(from: options)
    optionCount = options.count
    arrays = [
      CArrays.make(inputs.map { Int32(clamping: $0) }), CArrays.make(outputs.map { Int32(clamping: $0) }),
      CArrays.make([Int32]()),
    ]
    temporaryArray = CArrays.make([Int32]())
    memory.storeBytes(of: arrays[0], toByteOffset: NodeLayout.inputs, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(of: arrays[1], toByteOffset: NodeLayout.outputs, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(
      of: arrays[2], toByteOffset: NodeLayout.intermediates, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(
      of: temporaryArray, toByteOffset: NodeLayout.temporaries, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(of: data, toByteOffset: NodeLayout.userData, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(
      of: self.options.baseAddress, toByteOffset: NodeLayout.customInitialData,
      as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(
      of: Int32(clamping: options.count), toByteOffset: NodeLayout.customInitialDataSize, as: Int32.self)
    HandleTable.shared.add(Entry(self), at: memory)
  }

  /// The bytes of ``options`` that are the model's.
  let optionCount: Int

  deinit {
    HandleTable.shared.remove(structure)
    for array in arrays { free(array) }
    free(temporaryArray)
    options.deallocate()
    StructureMemory.shared.release(structure, NodeLayout.size)
  }

  /// Says which tensors the operator has added.
  func setTemporaries(_ indices: [Int32]) {
    temporaries = CIntegers(indices.map(Int.init))
    let old = temporaryArray
    temporaryArray = CArrays.make(indices)
    structure.storeBytes(
      of: temporaryArray, toByteOffset: NodeLayout.temporaries, as: UnsafeMutableRawPointer?.self)
    free(old)
  }

  /// The table's weak reference to a node.
  final class Entry: HandleObject, @unchecked Sendable {
    static let typeName = "TfLiteNode"
    private weak var node: NodeReference?

    init(_ node: NodeReference) { self.node = node }

    /// The node at a client's pointer.
    static func node(_ pointer: UnsafeRawPointer?) throws(Refusal) -> NodeReference {
      guard let node = try HandleTable.shared.object(pointer, Entry.self).node else {
        throw Refusal("the TfLiteNode is no longer in use")
      }
      return node
    }
  }
}
