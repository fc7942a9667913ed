// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import ApusRuntime

/// Plans one segment: lets operators prepare themselves, runs the passes, packs weights, places
/// tensors and has the result checked.
///
/// All mutable state of planning is in here. The result is a ``SegmentPlan``, or an error.
final class Planner {
  let graph: Graph
  let wiring: Wiring
  /// What was planned before.
  let start: PlanStart
  private(set) var draft: PlanDraft
  /// What the operator in preparation has read and written.
  var record = AccessRecord()
  private var assumptions: [(tensor: Int, bytes: [UInt8])] = []
  /// For each tensor: whether planning relies on its bytes; empty while there is none.
  private var isAssumed: [Bool] = []
  private var assumedByteCount = 0
  private var conditions: [() -> Bool] = []
  /// For each tensor: the operator that was last prepared to write it.
  private var lastWriters: [Int]
  /// The size of the segment's memory outside the arena: packed weights, folded constants, tables, values
  /// that it relies on, and facts about tensors.
  private var heldByteCount = 0

  var model: Model { graph.model }
  var context: GraphContext { graph.context }

  /// What an operator reads and writes while it prepares.
  struct AccessRecord {
    var reads: [Int] = []
    var writes: [Int] = []
    var scratch: [Int] = []
    var multiplyAccumulates = 0
    var work = 0
  }

  /// Prepares to plan what follows `start`.
  init(_ graph: Graph, after start: PlanStart) {
    self.graph = graph
    self.start = start
    wiring = graph.wiring
    lastWriters = Array(repeating: -1, count: graph.wiring.tensorCount)
    draft = PlanDraft(
      wiring: graph.wiring, kernels: graph.context.kernels, steps: [], facts: start.facts,
      scratchByteCounts: start.scratchByteCounts, limits: graph.context.limits)
  }

  /// Plans to the end, or to the first operator whose preparation lacks a value.
  func segment() throws(ApusError) -> SegmentPlan {
    let first = start.nextNode
    var node = first
    var deferred: (any DeferredOperator)?
    while node < wiring.nodeCount, deferred == nil {
      do throws(ApusError) {
        deferred = try prepareOperator(node)
      } catch {
        guard error.code == .valueNotKnown else { throw error }
        // All earlier operators have run, so a missing value will never exist.
        guard !start.isRunning || node > first else { throw ApusError(.malformedModel, error.message) }
        break
      }
      node += 1
    }
    if start.segmentCount > 0 { try hold(wiring.tensorCount * Self.tensorByteCount) }
    try applyPasses()
    try packWeights()
    let pinned = try pinConstants(of: first..<node)
    let layout = try draft.placingTensors(
      of: first..<node, reuses: graph.passes.contains(.reuse), overwrites: graph.passes.contains(.overwriting)
    )
    try reserve(layout.byteCount)
    return try SegmentPlan(
      index: start.segmentCount, nodes: first..<node, steps: draft.steps, facts: draft.facts, layout: layout,
      pinned: pinned, scratchByteCounts: draft.scratchByteCounts, assumptions: assumptions,
      conditions: conditions, deferred: deferred, heldByteCount: heldByteCount,
      checkedWith: PlanChecker(wiring: wiring, before: start.present, limits: context.limits))
  }

  /// The size of what each segment keeps per tensor: facts, and whether it is in memory.
  private static let tensorByteCount = MemoryLayout<TensorFacts>.stride + 16

  /// Plans an empty segment with memory for the outputs of a deferred operator, whose shapes are now known.
  func delivery(of operation: any DeferredOperator) throws(ApusError) -> SegmentPlan {
    try hold(wiring.tensorCount * Self.tensorByteCount)
    let next = start.nextNode
    let node = Node(index: next - 1, in: self)
    let outputs = wiring.subgraph.operators[next - 1].outputs
    var requests: [OffsetAssignment.Request] = []
    for (position, output) in outputs.enumerated() {
      _ = try define(output, shape: operation.outputShape(position), by: node)
      requests.append(.init(byteCount: try draft.byteCount(of: output), lifetime: next - 1...next))
    }
    var layout = Layout()
    try layout.assign(requests, to: outputs, subgraph: wiring.index)
    try reserve(layout.byteCount)
    return try SegmentPlan(
      index: start.segmentCount, nodes: next..<next, steps: [], facts: draft.facts, layout: layout,
      pinned: try pinConstants(of: next..<next), scratchByteCounts: draft.scratchByteCounts,
      delivery: .init(operation: operation, node: next - 1), heldByteCount: heldByteCount,
      checkedWith: PlanChecker(wiring: wiring, before: start.present, limits: context.limits))
  }

  // MARK: Operators

  /// Lets an operator prepare itself. The result is a step, constants or a view.
  ///
  /// - Returns: the operator, if it is deferred.
  private func prepareOperator(_ index: Int) throws(ApusError) -> (any DeferredOperator)? {
    try context.limits.checkTime()
    let entry = wiring.subgraph.operators[index]
    let node = Node(index: index, in: self)
    let registration = try context.registration(of: entry, at: index)
    record = AccessRecord()
    record.reads.reserveCapacity(entry.inputs.count)
    let scratchCount = draft.scratchByteCounts.count
    let (heldBefore, assumedBefore) = (heldByteCount, assumedByteCount)
    let operation: any Operator
    do throws(ApusError) { operation = try registration.prepare(node) } catch {
      draft.scratchByteCounts.removeSubrange(scratchCount...)
      // The values that it has read stay recorded.
      heldByteCount = heldBefore + assumedByteCount - assumedBefore
      for output in record.writes where !wiring.isVariable(output) { draft.facts[output].shape = nil }
      throw error
    }
    let step = Step(
      position: index, nodes: [index], operation: operation, reads: record.reads, writes: record.writes,
      scratch: record.scratch, multiplyAccumulates: record.multiplyAccumulates, work: record.work)
    if let deferred = operation.deferred {
      draft.steps.append(step)
      return deferred
    }
    for output in entry.outputs where draft.facts[output].shape == nil {
      throw node.unsupported("output \(wiring.name(of: output)) is not computed")
    }
    if operation.isDone { return nil }
    if let view = operation.view, graph.passes.contains(.views), draft.share(view, operands: entry.inputs) {
      return nil
    }
    guard registration.isPure, graph.passes.contains(.folding), readsConstantsAlone(entry) else {
      draft.steps.append(step)
      return nil
    }
    let finished = try finished(step, node)
    let keptByteCount = try draft.fold(
      finished, threads: context.threads, model: model,
      reserve: { (byteCount: Int) throws(ApusError) in try self.reserve(byteCount) })
    if let keptByteCount {
      try hold(keptByteCount)
    } else {
      draft.steps.append(finished)
    }
    return nil
  }

  /// Whether an operator has inputs, and all of them are constants.
  private func readsConstantsAlone(_ entry: OperatorEntry) -> Bool {
    var hasInputs = false
    for input in entry.inputs where input >= 0 {
      guard draft.facts[input].constant != nil else { return false }
      hasInputs = true
    }
    return hasInputs
  }

  /// The step with its kernel chosen and its weights packed.
  private func finished(_ step: Step, _ node: Node) throws(ApusError) -> Step {
    guard step.operation.isDraft else { return try packed(step, node) }
    return try packed(step.doing(try step.operation.chosen(for: node)), node)
  }

  private func applyPasses() throws(ApusError) {
    let passes = graph.passes
    if passes.contains(.padding) { draft.absorbPadding() }
    for index in draft.steps.indices where draft.steps[index].operation.isDraft {
      let step = draft.steps[index]
      draft.steps[index] = step.doing(try step.operation.chosen(for: Node(index: step.nodes[0], in: self)))
    }
    if passes.contains(.gates) { draft.joinGates() }
    if passes.contains(.rectifiers) { try draft.joinRectifiers(planner: self) }
    if passes.contains(.sums) { draft.absorbSums() }
    if passes.contains(.functions) { draft.absorbFunctions() }
    if passes.contains(.rows) { try draft.joinRows(threadCount: context.threads.count) }
    if passes.contains(.chains) { try draft.joinChains(threadCount: context.threads.count, planner: self) }
  }

  private func packWeights() throws(ApusError) {
    for index in draft.steps.indices where draft.steps[index].operation.hasWeights {
      try context.limits.checkTime()
      let step = draft.steps[index]
      draft.steps[index] = try packed(step, Node(index: step.nodes[0], in: self))
    }
  }

  private func packed(_ step: Step, _ node: Node) throws(ApusError) -> Step {
    guard step.operation.hasWeights else { return step }
    let packer = WeightPacker(node, self)
    record = AccessRecord()
    let operation = try step.operation.packed(by: packer)
    return step.doing(
      operation, reads: step.reads.filter { !packer.packed.contains($0) }, scratch: record.scratch)
  }

  /// Puts a constant in memory, and counts the bytes that stay.
  func pinned(_ constant: Constant) throws(ApusError) -> TensorBuffer {
    // Constants with several consumers were counted when they were folded. All outputs of an operator are
    // kept together.
    if constant.placed == nil, let computed = constant.computation {
      try context.limits.checkTime()
      if !computed.isShared { try hold(computed.keptByteCount) }
      try reserve(computed.workingByteCount - computed.keptByteCount)
    }
    return try constant.pin()
  }

  /// Pins the constants that are read during or after runs.
  private func pinConstants(of nodes: Range<Int>) throws(ApusError) -> [PlacedConstant] {
    var pinned: [PlacedConstant] = []
    var isPinned = Array(repeating: false, count: wiring.tensorCount)
    func pin(_ tensor: Int) throws(ApusError) {
      guard tensor < isPinned.count, !isPinned[tensor], let constant = draft.facts[tensor].constant else {
        return
      }
      isPinned[tensor] = true
      pinned.append(.init(tensor: tensor, buffer: try self.pinned(constant)))
    }
    for step in draft.steps { for tensor in step.reads { try pin(tensor) } }
    for output in wiring.subgraph.outputs { try pin(output) }
    if !graph.passes.contains(.reuse) {
      for node in nodes {
        for tensor in wiring.subgraph.operators[node].inputs + wiring.subgraph.operators[node].outputs
        where tensor >= 0 {
          try pin(tensor)
        }
      }
    }
    return pinned
  }

  // MARK: Facts

  func setShape(_ shape: TensorShape, of tensor: Int) { draft.facts[tensor].shape = shape }

  /// Records that the operator in preparation writes a tensor.
  func noteWrite(_ tensor: Int, by node: Int) {
    if lastWriters[tensor] != node { record.writes.append(tensor) }
    lastWriters[tensor] = node
  }

  func setConstant(_ constant: Constant, of tensor: Int) { draft.facts[tensor].constant = constant }

  func addScratch(_ byteCount: Int) -> Int {
    draft.scratchByteCounts.append(byteCount)
    return wiring.tensorCount + draft.scratchByteCounts.count - 1
  }

  /// Records that planning relies on a tensor's bytes from the last run, once.
  func assume(_ tensor: Int, holds bytes: UnsafeRawBufferPointer) throws(ApusError) {
    if isAssumed.isEmpty { isAssumed = Array(repeating: false, count: wiring.tensorCount) }
    guard !isAssumed[tensor] else { return }
    isAssumed[tensor] = true
    try hold(bytes.count)
    assumedByteCount += bytes.count
    assumptions.append((tensor, unsafe Array(bytes)))
  }

  /// Records that planning relies on a condition, which is evaluated before each run of the segment.
  func assume(_ condition: @escaping () -> Bool) { conditions.append(condition) }

  // MARK: Memory

  /// Throws if the limit on memory would be exceeded.
  func reserve(_ byteCount: Int) throws(ApusError) {
    try context.checkMemory(
      byteCount, beside: start.heldByteCount.addingClamped(heldByteCount), insteadOf: graph.countedByteCount,
      "subgraph \(wiring.index)")
  }

  /// Records bytes that the segment keeps outside the arena.
  func hold(_ byteCount: Int) throws(ApusError) {
    try reserve(byteCount)
    heldByteCount = heldByteCount.addingClamped(byteCount)
  }
}

/// What was planned, and possibly run, before a segment. Immutable.
///
/// It is a class, so that planners pass it on at little cost.
final class PlanStart {
  /// The first operator of the segment.
  let nextNode: Int
  let facts: [TensorFacts]
  /// The size of each piece of scratch memory, in bytes.
  let scratchByteCounts: [Int]
  /// The tensors whose values exist.
  let present: PresentTensors
  let segmentCount: Int
  /// The size of inputs, variables and earlier segments, in bytes.
  let heldByteCount: Int
  /// Whether everything before has run, so that its results can be read.
  let isRunning: Bool

  init(
    nextNode: Int, facts: [TensorFacts], scratchByteCounts: [Int] = [], present: PresentTensors,
    segmentCount: Int, heldByteCount: Int, isRunning: Bool
  ) {
    self.nextNode = nextNode
    self.facts = facts
    self.scratchByteCounts = scratchByteCounts
    self.present = present
    self.segmentCount = segmentCount
    self.heldByteCount = heldByteCount
    self.isRunning = isRunning
  }
}
