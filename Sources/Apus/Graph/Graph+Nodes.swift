import ApusKernels

/// What a ``Node`` asks of its graph while its operator is prepared.
extension Graph {
  /// A tensor that an operator reads.
  func inputSlot(_ index: Int, of node: Node) throws(ApusError) -> TensorSlot {
    guard let shape = states[index].shape, states[index].producer < node.index || states[index].isVariable
    else { throw node.malformed("reads \(states[index].name), which nothing before it writes") }
    return slot(index, shape: shape)
  }

  func slot(_ index: Int, shape: TensorShape) -> TensorSlot {
    TensorSlot(
      index: index, entry: states[index].entry, type: states[index].type, shape: shape,
      isConstant: states[index].constant != nil)
  }

  /// Gives a tensor its shape.
  func define(_ index: Int, shape: TensorShape, by node: Node) throws(ApusError) -> TensorSlot {
    guard shape.dimensions.allSatisfy({ $0 >= 0 }) else {
      throw node.malformed("output \(states[index].name) would have the shape \(shape)")
    }
    if states[index].isVariable {
      guard shape == states[index].shape else {
        throw node.malformed(
          "variable \(states[index].name), \(states[index].shape ?? []), would have the shape \(shape)")
      }
      return slot(index, shape: shape)
    }
    states[index].shape = shape
    let byteCount = try byteCount(of: index)
    guard byteCount <= memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): output \(states[index].name), \(shape), takes \(byteCount) bytes, more than the limit of "
          + "\(memoryLimit)")
    }
    return slot(index, shape: shape)
  }

  /// Lets a tensor share the memory of another.
  func share(_ slot: TensorSlot, with input: TensorSlot) {
    states[slot.index].root = states[input.index].root
  }

  /// Memory for one operator's run.
  func scratch(byteCount: Int, of node: Node) throws(ApusError) -> TensorSlot {
    guard byteCount >= 0, byteCount <= memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): needs \(byteCount) bytes to work in, more than the limit of \(memoryLimit)")
    }
    let index = states.count
    states.append(
      TensorState(
        entry: nil, type: .uint8, shape: [byteCount], constant: nil, root: index, producer: node.index,
        lastUse: node.index, isVariable: false))
    buffers[index] = .none
    return slot(index, shape: [byteCount])
  }

  /// A tensor's values at preparation.
  func values<T: TensorElement>(of slot: TensorSlot, as type: T.Type) throws(ApusError) -> [T] {
    let state = states[slot.index]
    if let constant = state.constant {
      try constant.require()
      return constant.values()
    }
    let isComputed = isRunning && state.producer < (segments.last?.nodes.lowerBound ?? 0)
    guard isComputed, let base = buffers[slot.index].base else {
      throw ApusError(.valueNotKnown, "\(state.name) is known only when the model runs")
    }
    let byteCount = buffers[slot.index].byteCount
    let bytes = Array(UnsafeRawBufferPointer(start: base, count: byteCount))
    segments[segments.count - 1].assumptions.append((slot.index, bytes))
    let count = byteCount / MemoryLayout<T>.stride
    return Array(UnsafeBufferPointer(start: base.assumingMemoryBound(to: T.self), count: count))
  }

  /// Whether all operators before `node` have run, and none since.
  func isNextInRun(_ node: Int) -> Bool { isRunning && segments.last?.nodes.lowerBound == node }
}
