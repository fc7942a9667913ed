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
        // Whoever reads a view reads its root, which has to stay.
        let root = states[output].root
        try require(root)
        let constant = states[root].constant
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
    let lent = try lend(inputs)
    defer { takeBack(lent) }
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
    guard constants.allSatisfy({ states[$0.index].constant != nil }) else {
      return (try weightsOfRuns(byteCount: most, node: node), false)
    }
    let isShared = constants.allSatisfy { states[$0.index].constant?.isOfModel == true }
    let key = PackedWeightsKey(
      tensor: constants.first?.index ?? -1, others: constants.dropFirst().map(\.index),
      subgraph: subgraphIndex, layout: layout)
    if isShared, let known = model.knownWeights(key) {
      try holdPacked(known.byteCount, node)
      return (known, true)
    }
    let lent = try lend(constants.map(\.index), distance: most)
    defer { takeBack(lent) }
    var byteCount = most
    if let measuring {
      let tensors = table
      byteCount = measuring.kernel.packedByteCount(for: tensors.readBytes(measuring.filter))
    }
    try holdPacked(byteCount, node)
    func make(in pool: MemoryPool? = nil) -> PackedWeights {
      let weights = PackedWeights(byteCount: byteCount, pool: pool)
      pack(table, weights)
      return weights
    }
    return (isShared ? model.packedWeights(key, make: make) : make(), true)
  }

  /// Memory of this interpreter for weights that runs pack.
  func weightsOfRuns(byteCount: Int, node: Node) throws(ApusError) -> PackedWeights {
    try holdPacked(byteCount, node)
    return PackedWeights(byteCount: byteCount)
  }

  private func holdPacked(_ byteCount: Int, _ node: Node) throws(ApusError) {
    do throws(ApusError) { try hold(byteCount) } catch {
      throw ApusError(.resourceLimit, "\(node.place): packed weights: \(error.message)")
    }
  }

  // MARK: Unread

  /// Sees to it that a constant of the file is in its place, as an operator will read it whenever it runs.
  func require(_ index: Int) throws(ApusError) {
    guard let constant = states[index].constant, constant.file != nil, buffers[index].base == nil,
      !states[index].isPacked
    else { return }
    try constant.require()
    buffers[index] = constant.buffer
  }

  /// As above for someone other than an operator.
  func present(_ index: Int) throws(ApusError) {
    states[index].isPacked = false
    try require(index)
  }

  /// Constants of the file that someone reads for a while: in their places, or copies.
  struct Lent {
    var tensors: [Int] = []
    /// Where copies are: memory of their own, if it is not lent by the model.
    var memory: TensorMemory?
    var isOfModel = false
  }

  /// Gives constants of the file that have no memory in this graph some until ``takeBack(_:)``. Of the model's memory for
  /// packed weights, `distance` bytes stay free to be filled meanwhile.
  private func lend(_ tensors: [Int], distance: Int = 0) throws(ApusError) -> Lent {
    var lent = Lent()
    var byteCount = 0
    for index in tensors {
      guard let constant = states[index].constant, constant.file != nil, buffers[index].base == nil
      else { continue }
      lent.tensors.append(index)
      buffers[index] = constant.buffer
      if !constant.isPresent { byteCount += roundedUp(constant.byteCount, to: TensorMemory.alignment) }
    }
    guard byteCount > 0 else { return lent }
    var target = model.packedMemory.lend(byteCount: byteCount, distance: distance)
    lent.isOfModel = target != nil
    if target == nil {
      let memory = TensorMemory(byteCount: byteCount)
      lent.memory = memory
      target = memory.base
    }
    for index in lent.tensors {
      guard let constant = states[index].constant, let place = target, !constant.isPresent else { continue }
      do { try constant.copyFromFile(to: place) } catch {
        takeBack(lent)
        throw error
      }
      buffers[index] = TensorBuffer(base: place, byteCount: constant.byteCount)
      target = place + roundedUp(constant.byteCount, to: TensorMemory.alignment)
    }
    return lent
  }

  private func takeBack(_ lent: Lent) {
    for index in lent.tensors { buffers[index] = .none }
    if lent.isOfModel { model.packedMemory.takeBack() }
  }

  // MARK: Packed

  /// Gives up the values of a constant that `node` alone reads, and has packed: what an operator computed, as the weights
  /// of many models are halves, made floats, is given back; what is in the file need not be read for it again.
  func discardPacked(_ slot: TensorSlot, by node: Node) {
    let state = states[slot.index]
    guard let constant = state.constant, constant.isOfModel, state.root == slot.index,
      state.readerCount == 1, state.lastUse == node.index
    else { return }
    guard state.producer >= 0 else {
      if constant.file != nil, buffers[slot.index].base == nil { states[slot.index].isPacked = true }
      return
    }
    model.forget(subgraph: subgraphIndex, tensor: slot.index)
    states[slot.index].isDiscarded = true
    states[slot.index].constant = nil
    buffers[slot.index] = .none
  }
}
