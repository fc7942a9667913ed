import ApusKernels

/// Memory of tensors: who gets how much, where, and up to which limit.
extension Graph {
  func allocateInputsAndVariables() throws(ApusError) {
    var requests: [OffsetAssignment.Request] = []
    let inputs = subgraph.inputs.indices.filter { states[subgraph.inputs[$0]].isVariable == false }
    for position in inputs {
      let tensor = subgraph.inputs[position]
      states[tensor].shape = inputShapes[position]
      requests.append(.init(byteCount: try byteCount(of: tensor), lifetime: 0...0))
    }
    for tensor in inputs { buffers[subgraph.inputs[tensor]] = .none }
    inputMemory = nil
    let memory = try place(requests, tensors: inputs.map { subgraph.inputs[$0] }, block: 0)
    inputMemory = memory
    for index in subgraph.tensors.indices where states[index].isVariable && variables[index] == nil {
      let count = try byteCount(of: index)
      try reserve(count)
      let memory = TensorMemory(byteCount: count)
      variables[index] = memory
      variableByteCount += memory.byteCount
      buffers[index] = TensorBuffer(base: memory.base, byteCount: count)
    }
    resetVariables()
  }

  /// Sets variables to zero: the zero point of `int8` ones.
  func resetVariables() {
    for (index, memory) in variables {
      let zero = states[index].type == .int8 ? states[index].quantization?.zeroPoint ?? 0 : 0
      memory.base.initializeMemory(
        as: UInt8.self, repeating: UInt8(truncatingIfNeeded: zero), count: memory.byteCount)
    }
  }

  /// Gives memory to what a segment produces.
  func allocate(_ current: Int) throws(ApusError) {
    let segment = segments[current]
    // By the tensor whose memory others share.
    var lastUses = Array(repeating: -1, count: states.count)
    // Outputs without a shape are a deferred operator's.
    let produced = segment.nodes.flatMap { subgraph.operators[$0].outputs }.filter {
      states[$0].shape != nil && !states[$0].isDiscarded
    }
    for tensor in produced where states[tensor].constant == nil && !states[tensor].isVariable {
      let root = states[tensor].root
      lastUses[root] = max(lastUses[root], states[tensor].lastUse)
    }
    var requests: [OffsetAssignment.Request] = []
    var tensors: [Int] = []
    let end = segment.nodes.upperBound
    for tensor in produced
    where states[tensor].root == tensor && states[tensor].constant == nil && !states[tensor].isVariable {
      let first = states[tensor].producer
      let last = min(max(first, lastUses[tensor]), end)
      requests.append(
        .init(byteCount: try byteCount(of: tensor), lifetime: (preservesAllTensors ? 0 : first)...last))
      tensors.append(tensor)
    }
    for scratch in segment.stateCount..<states.count {
      let node = states[scratch].producer
      requests.append(.init(byteCount: try byteCount(of: scratch), lifetime: node...node))
      tensors.append(scratch)
    }
    segments[current].memory = try place(requests, tensors: tensors, block: current + 1)
    for tensor in produced where states[tensor].root != tensor {
      buffers[tensor] = buffers[states[tensor].root]
    }
  }

  func place(
    _ requests: [OffsetAssignment.Request], tensors: [Int], block: Int
  ) throws(ApusError) -> TensorMemory {
    let assignment = OffsetAssignment(requests)
    guard let byteCount = assignment.byteCount else {
      throw ApusError(
        .resourceLimit, "the tensors of subgraph \(subgraphIndex) take more bytes than can be counted")
    }
    try reserve(byteCount)
    let memory = TensorMemory(byteCount: byteCount)
    placements.reserveCapacity(placements.count + tensors.count)
    for (position, tensor) in tensors.enumerated() {
      let (offset, count) = (assignment.offsets[position], requests[position].byteCount)
      buffers[tensor] = TensorBuffer(base: memory.base + offset, byteCount: count)
      placements.append(
        Placement(
          tensor: tensor, block: block, offset: offset, byteCount: count,
          lifetime: requests[position].lifetime))
    }
    return memory
  }

  /// Where the tensors lie.
  var memoryPlan: MemoryPlan {
    var plan = MemoryPlan()
    plan.entries = placements.map {
      .init(
        name: $0.tensor < subgraph.tensors.count ? subgraph.tensors[$0.tensor].name : "", block: $0.block,
        offset: $0.offset, byteCount: $0.byteCount, lifetime: $0.lifetime)
    }
    plan.arenaByteCount = arenaByteCount
    plan.variableByteCount = variableByteCount
    return plan
  }

  var arenaByteCount: Int {
    segments.reduce(inputMemory?.byteCount ?? 0) { $0 + ($1.memory?.byteCount ?? 0) }
  }

  /// Refuses to pass the limit on memory.
  func reserve(_ byteCount: Int) throws(ApusError) {
    let held = segments.reduce(arenaByteCount + variableByteCount) { $0 + $1.constantByteCount }
    guard byteCount <= memoryLimit, held <= memoryLimit - byteCount else {
      throw ApusError(
        .resourceLimit,
        "subgraph \(subgraphIndex): needs \(byteCount) bytes beside \(held), more than the limit of \(memoryLimit)"
      )
    }
  }

  /// Notes bytes that the segment in preparation keeps outside the arena.
  func hold(_ byteCount: Int) throws(ApusError) {
    try reserve(byteCount)
    if !segments.isEmpty { segments[segments.count - 1].constantByteCount += byteCount }
  }

  /// The bytes of a tensor whose shape is known.
  func byteCount(of index: Int) throws(ApusError) -> Int {
    guard let width = states[index].type.storedByteCount else {
      throw ApusError(
        .unsupportedOperator, "tensor \(states[index].name): type \(states[index].type) is not supported")
    }
    let (count, overflow) = (states[index].shape?.elementCount ?? 0).multipliedReportingOverflow(by: width)
    guard !overflow, count < .max / 2 else {
      throw ApusError(
        .resourceLimit,
        "tensor \(states[index].name): \(states[index].shape ?? []) takes more bytes than can be counted")
    }
    return count
  }
}
