import ApusFormat
import ApusKernels

/// Preparation of operators, segment by segment.
extension Graph {
  /// Changes the shape of an input; the next ``prepare()`` plans anew.
  func setInputShape(_ position: Int, _ shape: TensorShape) {
    guard inputShapes[position] != shape else { return }
    inputShapes[position] = shape
    isPrepared = false
  }

  /// Plans the graph for the shapes of its inputs, as far as that can be done before data arrives.
  func prepare() throws(ApusError) {
    guard !isPrepared else { return }
    dropSegments(from: 0)
    placements = []
    variableByteCount = variables.values.reduce(0) { $0 + $1.byteCount }
    for index in subgraph.tensors.indices {
      guard let constant = states[index].constant else { continue }
      // What may not have been read yet comes when an operator wants it.
      buffers[index] = constant.file == nil ? constant.buffer : .none
      if states[index].lastUse == .max { try require(index) }
    }
    try allocateInputsAndVariables()
    try planSegment(from: 0)
    isPrepared = true
  }

  func dropSegments(from first: Int) {
    guard first < segments.count else { return }
    let segment = segments[first]
    let firstNode = segment.delivery?.node ?? segment.nodes.lowerBound
    for index in subgraph.tensors.indices where states[index].producer >= firstNode {
      if states[index].isVariable { continue }
      states[index].shape = nil
      states[index].root = index
      states[index].constant = nil
      states[index].padding = nil
      states[index].fusedInto = nil
      states[index].isDiscarded = false
      buffers[index] = .none
    }
    states.removeSubrange(segment.stateCount...)
    steps.removeSubrange(segment.steps.lowerBound...)
    segments.removeSubrange(first...)
    placements.removeAll { $0.block > first }
  }

  /// Prepares operators from `start` on, up to the end or to the first whose preparation lacks a value.
  private func planSegment(from start: Int) throws(ApusError) {
    segments.append(Segment(nodes: start..<start, steps: steps.count..<steps.count, stateCount: states.count))
    let current = segments.count - 1
    do throws(ApusError) {
      var node = start
      while node < subgraph.operators.count {
        do throws(ApusError) {
          try prepareOperator(node)
        } catch {
          guard error.code == .valueNotKnown else { throw error }
          // All before the first operator has run: a value that is still missing will never come.
          guard !isRunning || node > start else { throw ApusError(.malformedModel, error.message) }
          break
        }
        node += 1
        if let last = steps.last, last.node == node - 1, let deferred = last.operation.deferred {
          segments[current].deferred = deferred
          break
        }
      }
      segments[current].nodes = start..<node
      segments[current].steps = segments[current].steps.lowerBound..<steps.count
      segments[current].walk = steps[segments[current].steps].map { .passUnretained($0) }
      try allocate(current)
    } catch {
      segments[current].nodes = start..<subgraph.operators.count
      dropSegments(from: current)
      throw error
    }
  }

  func planSegment(after previous: Int) throws(ApusError) {
    if let deferred = segments[previous].deferred {
      try planDelivery(of: deferred, node: segments[previous].nodes.upperBound - 1)
    } else {
      try planSegment(from: segments[previous].nodes.upperBound)
    }
  }

  private func prepareOperator(_ index: Int) throws(ApusError) {
    let node = Node(index: index, in: self)
    let inputs = subgraph.operators[index].inputs.filter { $0 >= 0 }
    for input in inputs { states[input].isPacked = false }
    let stateCount = states.count
    let registration = try context.registration(of: subgraph.operators[index], at: index)
    let operation: any Operator
    do throws(ApusError) {
      operation = try registration.prepare(node)
    } catch {
      states.removeSubrange(stateCount...)
      throw error
    }
    if operation.deferred != nil {
      for input in inputs { try require(input) }
      steps.append(Step(node: index, operation: operation))
      return
    }
    for output in subgraph.operators[index].outputs where states[output].shape == nil {
      throw node.unsupported("output \(states[output].name) is not computed")
    }
    if registration.isPure, try fold(operation, node: index, scratchFrom: stateCount) {
      for scratch in stateCount..<states.count { buffers[scratch] = .none }
      states.removeSubrange(stateCount...)
      return
    }
    for input in inputs { try require(input) }
    if !operation.isView { steps.append(Step(node: index, operation: operation)) }
  }

  /// Whether a segment ends the graph.
  func isLast(_ segment: Int) -> Bool {
    segments[segment].nodes.upperBound == subgraph.operators.count && segments[segment].deferred == nil
  }

  /// Whether the whole graph is planned, so that the shapes of all outputs are known.
  var isPlanned: Bool { isPrepared && !segments.isEmpty && isLast(segments.count - 1) }
}
