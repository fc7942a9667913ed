import ApusFormat
import ApusKernels

/// Values that are known before a run: folded, packed, given back.
extension Graph {
  /// Runs an operator now if all that it reads is constant; its outputs become constants.
  func fold(_ operation: any Operator, node: Int, scratchFrom stateCount: Int) throws(ApusError)
    -> Bool
  {
    let entry = subgraph.operators[node]
    let inputs = entry.inputs.filter { $0 >= 0 }
    guard !inputs.isEmpty, inputs.allSatisfy({ states[$0].constant != nil }) else { return false }
    if operation.isView {
      for output in entry.outputs {
        let constant = states[states[output].root].constant
        states[output].constant = constant
        buffers[output] = constant?.buffer ?? .none
      }
      return true
    }
    let written = entry.outputs + Array(stateCount..<states.count)
    var total = 0
    for index in written { total += min(try byteCount(of: index), Self.foldLimit + 1) }
    guard total <= Self.foldLimit else { return false }
    let isShared = inputs.allSatisfy { states[$0].constant?.isOfModel == true }
    if isShared, let known = model.foldedConstants(subgraph: subgraphIndex, tensors: entry.outputs) {
      try adopt(known, by: entry)
      return true
    }
    // What is written beyond the outputs is given back below.
    try reserve(total)
    var memories: [TensorMemory] = []
    for index in written {
      let memory = TensorMemory(byteCount: try byteCount(of: index))
      buffers[index] = TensorBuffer(base: memory.base, byteCount: try byteCount(of: index))
      memories.append(memory)
    }
    try operation.invoke(table)
    var results: [ConstantData] = []
    for (position, output) in entry.outputs.enumerated() {
      results.append(
        ConstantData(
          base: UnsafeRawPointer(memories[position].base), byteCount: try byteCount(of: output),
          owner: memories[position], isOfModel: isShared))
    }
    if isShared { model.remember(results, subgraph: subgraphIndex, tensors: entry.outputs) }
    try adopt(results, by: entry)
    return true
  }

  /// Results of constants larger than this are computed in each run instead of being kept.
  private static let foldLimit = 256 << 20

  private func adopt(_ constants: [ConstantData], by entry: OperatorEntry) throws(ApusError) {
    try hold(constants.reduce(0) { $0 + $1.byteCount })
    for (output, constant) in zip(entry.outputs, constants) {
      states[output].constant = constant
      buffers[output] = constant.buffer
    }
  }

  /// Makes an output a constant of this plan.
  func setConstant(_ slot: TensorSlot, bytes: [UInt8]) {
    let memory = TensorMemory(byteCount: bytes.count)
    memory.base.copyMemory(from: bytes, byteCount: bytes.count)
    let constant = ConstantData(
      base: UnsafeRawPointer(memory.base), byteCount: bytes.count, owner: memory, isOfModel: false)
    states[slot.index].constant = constant
    buffers[slot.index] = constant.buffer
  }

  /// Weights in a kernel's layout; see ``Node/packedWeights(of:layout:most:measuring:pack:)``.
  func packedWeights(
    of constants: [TensorSlot], layout: WeightLayout, most: Int,
    measuring: (kernel: any PreparedConvolution, filter: TensorSlot)?, node: Node,
    pack: (borrowing TensorTable, PackedWeights) -> Void
  ) throws(ApusError) -> (weights: PackedWeights, arePacked: Bool) {
    let areConstant = constants.allSatisfy { states[$0.index].constant != nil }
    var byteCount = most
    if areConstant, let measuring {
      let tensors = table
      byteCount = measuring.kernel.packedByteCount(for: tensors.readBytes(measuring.filter))
    }
    do throws(ApusError) { try hold(byteCount) } catch {
      throw ApusError(.resourceLimit, "\(node.place): packed weights: \(error.message)")
    }
    guard areConstant else { return (PackedWeights(byteCount: byteCount), false) }
    func make(in pool: MemoryPool? = nil) -> PackedWeights {
      let weights = PackedWeights(byteCount: byteCount, pool: pool)
      pack(table, weights)
      return weights
    }
    guard constants.allSatisfy({ states[$0.index].constant?.isOfModel == true }) else {
      return (make(), true)
    }
    let key = PackedWeightsKey(
      tensor: constants.first?.index ?? -1, others: constants.dropFirst().map(\.index),
      subgraph: subgraphIndex,
      layout: layout)
    return (model.packedWeights(key, make: make), true)
  }

  /// Gives back the values of a constant that an operator computed and that `node` alone reads, and has packed: the
  /// weights of many models are halves, made floats.
  func discardPacked(_ slot: TensorSlot, by node: Node) {
    let state = states[slot.index]
    guard let constant = state.constant, constant.isOfModel, state.producer >= 0, state.root == slot.index,
      state.readerCount == 1, state.lastUse == node.index
    else { return }
    model.forget(subgraph: subgraphIndex, tensor: slot.index)
    states[slot.index].isDiscarded = true
    states[slot.index].constant = nil
    buffers[slot.index] = .none
  }
}
