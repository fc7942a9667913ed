// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A subgraph as an operator calls it: inputs are copied in, outputs copied out.
final class SubgraphCall {
  /// The subgraph's plan, which other operators may share.
  let graph: Graph
  private let observer: RunObserver
  private let place: String
  /// Why the subgraph cannot run with the inputs' shapes, if it need not run.
  private(set) var refusal: ApusError?

  /// Checks the subgraph's inputs and outputs against the operator's, and prepares it.
  ///
  /// - Parameter mayBeSkipped: Whether a run may do without the subgraph. Shapes that it does not take are then no error before it runs:
  ///   models guard a branch for some shapes by a condition on them. It has to take those that the file declares.
  init(
    _ index: Int, inputs: [(type: ElementType, shape: TensorShape)], outputTypes: [ElementType]?,
    of node: Node, mayBeSkipped: Bool = false
  ) throws(ApusError) {
    // There may be thousands of calls of a subgraph with as many inputs.
    try node.context.limits.checkTime()
    graph = try node.context.child(index)
    observer = RunObserver(profiles: false, limits: node.context.limits)
    place = node.place
    graph.callCount += 1
    let entry = graph.subgraph
    guard entry.inputs.count == inputs.count, graph.hasDistinctInputs else {
      throw node.malformed(
        "subgraph \(index) has \(entry.inputs.count) inputs, not \(inputs.count) different ones")
    }
    guard !node.context.model.isContested[index] else {
      throw node.malformed(
        "subgraph \(index) cannot have the quantization and types of the tensors that STABLEHLO_CASE passes")
    }
    if let outputTypes {
      guard entry.outputs.count == outputTypes.count else {
        throw node.malformed("subgraph \(index) has \(entry.outputs.count) outputs, not \(outputTypes.count)")
      }
      for (position, type) in outputTypes.enumerated() where graph.outputType(position) != type {
        throw node.malformed(
          "output \(position) of subgraph \(index) is \(graph.outputType(position)), not \(type)")
      }
    }
    for (position, input) in inputs.enumerated() {
      guard graph.inputType(position) == input.type, !graph.wiring.isVariable(entry.inputs[position]) else {
        throw node.malformed(
          "input \(position) of subgraph \(index) is \(graph.inputType(position)), not \(input.type)")
      }
    }
    try node.context.countPreparation()
    for (position, input) in inputs.enumerated() { graph.setInputShape(position, input.shape) }
    do throws(ApusError) { try graph.prepare() } catch {
      guard mayBeSkipped, [.malformedModel, .invalidData].contains(error.code) else { throw error }
      try prepareAsDeclared(insteadOf: error)
      refusal = error
    }
  }

  /// Prepares the subgraph for the shapes that the file declares, which shows that it takes some shapes; otherwise throws the error
  /// for the inputs' shapes.
  private func prepareAsDeclared(insteadOf error: ApusError) throws(ApusError) {
    let shapes = graph.wiring.declaredInputShapes
    guard shapes != graph.inputShapes else { throw error }
    for (position, shape) in shapes.enumerated() { setShape(shape, at: position) }
    do throws(ApusError) { try graph.prepare() } catch let other {
      throw other.code == .malformedModel || other.code == .invalidData ? error : other
    }
  }

  deinit { graph.callCount -= 1 }

  /// Whether no other operator calls the subgraph.
  var isOnlyCall: Bool { graph.callCount == 1 }

  /// The shapes of the outputs, unless data decides them.
  ///
  /// A graph that has run is planned to its end, but for the data of that run: only its first segment is known before.
  var plannedShapes: [TensorShape]? {
    guard refusal == nil, graph.isPlanned, graph.segments.count == 1 else { return nil }
    let shapes = graph.subgraph.outputs.indices.compactMap { graph.outputShape($0) }
    return shapes.count == graph.subgraph.outputs.count ? shapes : nil
  }

  /// Sets the shape of an input, which another call or iteration may have changed.
  func setShape(_ shape: TensorShape, at position: Int) {
    graph.setInputShape(position, shape)
  }

  /// Prepares the subgraph for the shapes that were set.
  func prepare() throws(ApusError) {
    try graph.prepare()
  }

  /// Fills an input, unless nothing reads it.
  func pass(_ bytes: RawSpan, to position: Int) throws(ApusError) {
    if graph.reads(input: position) { try graph.copyInput(position, from: bytes) }
  }

  /// Passes all inputs and runs.
  func run(_ inputs: [TensorSlot], _ tensors: borrowing TensorTable) throws(ApusError) {
    for (position, input) in inputs.enumerated() { setShape(input.shape, at: position) }
    try prepare()
    for (position, input) in inputs.enumerated() { try pass(tensors.readBytes(input), to: position) }
    try run()
  }

  /// Counts an iteration of the loop that calls the subgraph.
  func countIteration() throws(ApusError) { try graph.context.limits.countIteration(place) }

  /// Runs on the inputs that were passed.
  func run() throws(ApusError) {
    try observer.checkSignal()
    try graph.run(observer)
  }

  /// Copies an output into a tensor that was planned for it.
  func copyOutput(_ position: Int, to slot: TensorSlot, _ tensors: borrowing TensorTable) throws(ApusError) {
    let count = graph.outputShape(position)?.elementCount
    guard count == slot.shape.elementCount else {
      throw ApusError(
        .invalidData,
        "\(place): output \(position) is \(graph.outputShape(position) ?? []) in this run, not \(slot.shape)")
    }
    var bytes = tensors.writeBytes(slot)
    try graph.copyOutput(position, to: &bytes)
  }
}

extension Node {
  /// The inputs from a position on, all of them required.
  func inputs(from first: Int) throws(ApusError) -> [TensorSlot] {
    var slots: [TensorSlot] = []
    for position in first..<max(first, inputCount) { slots.append(try input(position)) }
    return slots
  }

  /// The types that the file declares for the outputs.
  func outputTypes() throws(ApusError) -> [ElementType] {
    var types: [ElementType] = []
    for position in 0..<outputCount { types.append(try outputType(position)) }
    return types
  }

  /// The subgraphs that the options name; they were checked for the whole model.
  func calledSubgraphs() throws(ApusError) -> [Int] {
    try SubgraphCalls.calls(of: entry, options, in: context.model)
  }
}
