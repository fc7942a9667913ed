// SPDX-License-Identifier: Apache-2.0
import ApusRuntime
import Synchronization

/// The result of an operator on constants: computed when it is first read, and kept if it will be read again.
///
/// The weights of many models are float16 values that a DEQUANTIZE converts. A kernel packs these floats
/// once. They are computed into leased memory, so a model never holds unpacked float weights besides the
/// packed ones.
final class ComputedConstant: @unchecked Sendable {
  // @unchecked: the operator runs under the lock, and kept values do not change.

  /// Memory that the operator writes, by its index in the table of tensors.
  struct Piece {
    let slot: Int
    let byteCount: Int
  }

  private struct State: @unchecked Sendable {
    var kept: [TensorMemory]?
  }

  private let operation: any Operator
  private let inputs: [NamedConstant]
  private let outputs: [Piece]
  private let scratch: [Piece]
  private let threads: ThreadTeam
  private let pool: MemoryPool
  private let tables: SpareTables
  /// Whether the values have several consumers; then they are computed once and kept.
  let isShared: Bool
  /// The length of the chain of computations that ends here, and the work of all of them.
  let depth: Int
  let work: Int
  private let state = Mutex(State())

  /// Describes the computation; nothing is computed yet.
  init(
    _ operation: any Operator, inputs: [NamedConstant], outputs: [Piece],
    scratch: [Piece], threads: ThreadTeam, pool: MemoryPool, tables: SpareTables, isShared: Bool,
    depth: Int, work: Int
  ) {
    self.operation = operation
    self.inputs = inputs
    self.outputs = outputs
    self.scratch = scratch
    self.threads = threads
    self.pool = pool
    self.tables = tables
    self.isShared = isShared
    self.depth = depth
    self.work = work
  }

  /// An output's bytes, if they are kept.
  func kept(_ output: Int) -> TensorBuffer? {
    state.withLock { state in state.kept.map { self.buffer($0, output) } }
  }

  /// An output's bytes, computed on the first call and kept.
  func keep(_ output: Int) throws(ApusError) -> TensorBuffer {
    try state.withLock { state throws(ApusError) in
      if let kept = state.kept { return self.buffer(kept, output) }
      let lease = try ConstantLease(self.inputs, pool: self.pool)
      let memories = try self.outputs.map { piece throws(ApusError) in
        try TensorMemory(byteCount: piece.byteCount)
      }
      let working = try self.scratch.map { piece throws(ApusError) in
        try TensorMemory(byteCount: piece.byteCount)
      }
      // The operator works on addresses, which keep nothing alive.
      defer { withExtendedLifetime((lease, memories, working)) {} }
      try unsafe self.compute(
        inputs: try self.inputs.map { input throws(ApusError) in try lease.buffer(of: input.tensor) },
        outputs: unsafe memories.map { unsafe $0.base }, scratch: unsafe working.map { unsafe $0.base })
      state.kept = memories
      return self.buffer(memories, output)
    }
  }

  /// The size of all outputs, which are kept together.
  var keptByteCount: Int { outputs.reduce(0) { $0.addingClamped($1.byteCount) } }

  /// The memory of an output, if it is kept.
  func keptMemory(_ output: Int) -> TensorMemory? { state.withLock { $0.kept?[output] } }

  /// The size of a lease, in bytes.
  var leasedByteCount: Int { isShared ? 0 : workingByteCount }

  /// The memory that the computation needs in bytes, with that of its sources.
  var workingByteCount: Int {
    let own = (outputs + scratch).reduce(0) { $0 + roundedUp($1.byteCount, to: TensorMemory.alignment) }
    return inputs.reduce(own) { $0 + $1.constant.leasedByteCount }
  }

  /// An output's bytes: in leased memory, or in their own memory if they are kept.
  func lease(_ output: Int, from memory: inout LeasedMemory) throws(ApusError) -> TensorBuffer {
    guard !isShared else { return try keep(output) }
    var (targets, working, sources): ([UnsafeMutableRawPointer], [UnsafeMutableRawPointer], [TensorBuffer]) =
      unsafe ([], [], [])
    for piece in outputs { unsafe targets.append(try memory.take(piece.byteCount)) }
    for piece in scratch { unsafe working.append(try memory.take(piece.byteCount)) }
    for input in inputs { sources.append(try input.constant.lease(from: &memory)) }
    try state.withLock { _ throws(ApusError) in
      try unsafe self.compute(inputs: sources, outputs: targets, scratch: working)
    }
    return unsafe TensorBuffer(base: targets[output], byteCount: outputs[output].byteCount)
  }

  private func buffer(_ memories: [TensorMemory], _ output: Int) -> TensorBuffer {
    unsafe TensorBuffer(base: memories[output].base, byteCount: outputs[output].byteCount)
  }

  /// Runs the operator with a tensor table of its own.
  private func compute(
    inputs sources: [TensorBuffer], outputs targets: [UnsafeMutableRawPointer],
    scratch working: [UnsafeMutableRawPointer]
  ) throws(ApusError) {
    var last = -1
    for input in inputs { last = max(last, input.tensor) }
    for piece in outputs { last = max(last, piece.slot) }
    for piece in scratch { last = max(last, piece.slot) }
    let buffers = tables.take(capacity: last + 1)
    for (input, source) in zip(inputs, sources) { buffers[input.tensor] = source }
    for (index, piece) in outputs.enumerated() {
      buffers[piece.slot] = unsafe TensorBuffer(base: targets[index], byteCount: piece.byteCount)
    }
    for (index, piece) in scratch.enumerated() {
      buffers[piece.slot] = unsafe TensorBuffer(base: working[index], byteCount: piece.byteCount)
    }
    defer {
      for input in inputs { buffers[input.tensor] = .none }
      for piece in outputs { buffers[piece.slot] = .none }
      for piece in scratch { buffers[piece.slot] = .none }
      tables.giveBack(buffers)
    }
    try unsafe operation.invoke(TensorTable(buffers.base, threads: threads))
  }
}
