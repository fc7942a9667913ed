import ApusKernels

/// What operators that call subgraphs need of a graph.
extension Graph {
  /// Plans an empty segment that gives memory to the outputs of a deferred operator, whose shapes are now known.
  func planDelivery(of operation: any DeferredOperator, node index: Int) throws(ApusError) {
    let next = index + 1
    segments.append(
      Segment(
        nodes: next..<next, steps: steps.count..<steps.count, stateCount: states.count,
        delivery: (operation, index)))
    let current = segments.count - 1
    let node = Node(index: index, in: self)
    do throws(ApusError) {
      var requests: [OffsetAssignment.Request] = []
      let outputs = subgraph.operators[index].outputs
      for (position, output) in outputs.enumerated() {
        _ = try define(output, shape: operation.outputShape(position), by: node)
        requests.append(.init(byteCount: try byteCount(of: output), lifetime: index...next))
      }
      segments[current].memory = try place(requests, tensors: outputs, block: current + 1)
    } catch {
      dropSegments(from: current)
      throw error
    }
  }

  /// A condition on which the plan of the segment in preparation rests; it is asked before each run of the segment.
  func assume(_ condition: @escaping () -> Bool) {
    guard !segments.isEmpty else { return }
    segments[segments.count - 1].conditions.append(condition)
  }

  // MARK: As a callee

  /// Whether anything reads an input, so that it has to be copied.
  func reads(input position: Int) -> Bool {
    let tensor = subgraph.inputs[position]
    return subgraph.outputs.contains(tensor) || subgraph.operators.contains { $0.inputs.contains(tensor) }
  }

  /// The shape of an output, where it is known.
  func outputShape(_ position: Int) -> TensorShape? { states[subgraph.outputs[position]].shape }

  /// The type of an output.
  func outputType(_ position: Int) -> ElementType { states[subgraph.outputs[position]].type }

  /// The type of an input.
  func inputType(_ position: Int) -> ElementType { states[subgraph.inputs[position]].type }

  /// Fills an input; the bytes are as many as its shape says.
  func copyInput(_ position: Int, from bytes: RawSpan) throws(ApusError) {
    let tensor = subgraph.inputs[position]
    try withTable { table throws(ApusError) in
      var destination = table.writeBytes(at: tensor)
      precondition(destination.byteCount == bytes.byteCount, "the caller set the input's shape")
      copyBytes(bytes, to: &destination)
    }
  }

  /// Copies an output out; `bytes` is as large as its shape says.
  func copyOutput(_ position: Int, to bytes: inout MutableRawSpan) throws(ApusError) {
    let tensor = subgraph.outputs[position]
    try withTable { table throws(ApusError) in
      let source = table.readBytes(at: tensor)
      precondition(source.byteCount == bytes.byteCount, "the caller knows the output's shape")
      copyBytes(source, to: &bytes)
    }
  }

  /// Copies an output into memory as large as its shape says.
  func copyOutput(_ position: Int, to bytes: UnsafeMutableRawBufferPointer) throws(ApusError) {
    let tensor = subgraph.outputs[position]
    try withTable { table throws(ApusError) in
      let source = table.readBytes(at: tensor)
      precondition(source.byteCount == bytes.count, "the caller knows the output's shape")
      source.withUnsafeBytes { bytes.copyMemory(from: $0) }
    }
  }
}
