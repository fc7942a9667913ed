// SPDX-License-Identifier: Apache-2.0

import Apus

/// A `TfLiteContext` with the tensors of one node, as an operator of the client's sees it.
///
/// Tensors are numbered within the node: inputs, outputs, then what the operator adds.
final class NodeContext: @unchecked Sendable {
  /// The structure.
  let structure: UnsafeMutableRawPointer
  /// Where messages go.
  let reporter: ErrorReporter
  /// Whether shapes may change.
  var isPreparing = true
  /// The tensors; nil where the model leaves an input out.
  private(set) var tensors: [TensorRecord?] = []

  private let structures: UnsafeMutableRawPointer
  private let structuresByteCount: Int
  private let exclusion = Exclusion()
  private let place: String

  /// Makes a context.
  ///
  /// - Parameters:
  ///   - tensors: The tensors, with their shapes.
  ///   - place: The operator, for messages.
  init(
    _ tensors: [Tensor?], threadCount: Int, place: String, reporter: ErrorReporter
  ) throws(Refusal) {
    structuresByteCount = tensors.count * TensorLayout.size
    guard let memory = StructureMemory.shared.allocate(ContextLayout.size) else {
      throw Refusal("the system refuses memory")
    }
    guard let structures = StructureMemory.shared.allocate(structuresByteCount) else {
      StructureMemory.shared.release(memory, ContextLayout.size)
      throw Refusal("the system refuses memory")
    }
    structure = memory
    self.structures = structures
    self.reporter = reporter
    self.place = place
    for (index, tensor) in tensors.enumerated() {
      self.tensors.append(
        try tensor.map { tensor throws(Refusal) in
          try TensorRecord(
            TensorDescription(tensor), shape: tensor.shape, structure: structures + index * TensorLayout.size,
            reporter: reporter, exclusion: exclusion)
        })
    }
    memory.storeBytes(of: tensors.count, toByteOffset: ContextLayout.tensorCount, as: Int.self)
    memory.storeBytes(
      of: structures, toByteOffset: ContextLayout.tensors, as: UnsafeMutableRawPointer.self)
    memory.storeBytes(
      of: Int32(clamping: threadCount), toByteOffset: ContextLayout.recommendedThreadCount, as: Int32.self)
    ContextFunctions.install(in: memory)
    HandleTable.shared.add(ContextReference(self), at: memory)
  }

  deinit {
    for tensor in tensors { tensor?.retire() }
    HandleTable.shared.remove(structure)
    StructureMemory.shared.release(structure, ContextLayout.size)
    // The records live until here at the latest: their structures are part of this memory.
    tensors = []
    StructureMemory.shared.release(structures, structuresByteCount)
  }

  /// A tensor of the node.
  func tensor(_ index: Int) throws(Refusal) -> TensorRecord {
    guard tensors.indices.contains(index), let tensor = tensors[index] else {
      throw Refusal("\(place): there is no tensor \(index)")
    }
    return tensor
  }

  /// Adds a tensor for values in between, and returns its index.
  func addTemporary(_ type: ElementType) throws(Refusal) -> Int {
    guard isPreparing else { throw Refusal("\(place): tensors can be added only while it is prepared") }
    guard tensors.count < 1 << 12 else {
      throw Refusal("\(place): has \(tensors.count) tensors, which is the most")
    }
    tensors.append(
      try TensorRecord(TensorDescription(type), shape: [0], reporter: reporter, exclusion: exclusion))
    return tensors.count - 1
  }

  /// Changes the shape of an output or of an added tensor.
  func resize(_ pointer: UnsafeRawPointer?, to dimensions: [Int32]?) throws(Refusal) {
    guard isPreparing else {
      throw Refusal(
        "\(place): the shape of a tensor cannot change while it runs; set it while it is prepared")
    }
    guard let dimensions, dimensions.allSatisfy({ $0 >= 0 }) else {
      throw Refusal("\(place): the new dimensions are NULL, or one is below zero")
    }
    let record = try HandleTable.shared.object(pointer, TensorRecord.self)
    guard tensors.contains(where: { $0 === record }) else {
      throw Refusal("\(place): \(record.tensor.name) is not a tensor of this operator")
    }
    try record.setShape(TensorShape(dimensions.map(Int.init)))
  }
}

/// The table's weak reference to a context.
final class ContextReference: HandleObject, @unchecked Sendable {
  static let typeName = "TfLiteContext"
  private weak var context: NodeContext?

  init(_ context: NodeContext) { self.context = context }

  /// The context.
  func get() throws(Refusal) -> NodeContext {
    guard let context else { throw Refusal("the TfLiteContext is no longer in use") }
    return context
  }

  /// The context at a client's pointer.
  static func context(_ pointer: UnsafeRawPointer?) throws(Refusal) -> NodeContext {
    try HandleTable.shared.object(pointer, ContextReference.self).get()
  }
}
