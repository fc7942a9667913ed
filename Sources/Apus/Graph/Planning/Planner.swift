// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import ApusRuntime

/// Plans one segment: lets operators prepare themselves, runs the passes, and has the result checked.
///
/// All mutable state of planning is in its ``Preparation``. The result is a ``SegmentPlan``, or an error.
struct Planner {
  private let preparation: Preparation
  private let passes: Passes

  private var context: GraphContext { preparation.context }
  private var wiring: Wiring { preparation.wiring }
  private var start: PlanStart { preparation.start }
  private var plan: PlanDraft { preparation.plan }

  /// Plans with some passes, for operators and passes that share a preparation.
  init(_ preparation: Preparation, _ passes: Passes) {
    self.preparation = preparation
    self.passes = passes
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
    if start.segmentCount > 0 { try preparation.hold(wiring.tensorCount * Self.tensorByteCount) }
    plan.nodes = first..<node
    for pass in passes.ofSegments { try pass(plan, preparation) }
    let pinned = try pinConstants()
    try preparation.reserve(plan.layout.byteCount)
    return try SegmentPlan(
      index: start.segmentCount, nodes: plan.nodes, steps: plan.steps, facts: plan.facts, layout: plan.layout,
      pinned: pinned, scratchByteCounts: plan.scratchByteCounts, assumptions: preparation.assumptions,
      conditions: preparation.conditions, deferred: deferred, heldByteCount: preparation.heldByteCount,
      checkedWith: PlanChecker(wiring: wiring, before: start.present, limits: context.limits))
  }

  /// The size of what each segment keeps per tensor: facts, and whether it is in memory.
  private static let tensorByteCount = MemoryLayout<TensorFacts>.stride + 16

  /// Plans an empty segment with memory for the outputs of a deferred operator, whose shapes are now known.
  func delivery(of operation: any DeferredOperator) throws(ApusError) -> SegmentPlan {
    try preparation.hold(wiring.tensorCount * Self.tensorByteCount)
    let next = start.nextNode
    let node = Node(index: next - 1, in: preparation)
    let outputs = wiring.subgraph.operators[next - 1].outputs
    var requests: [OffsetAssignment.Request] = []
    for (position, output) in outputs.enumerated() {
      _ = try preparation.define(output, shape: operation.outputShape(position), by: node)
      requests.append(.init(byteCount: try plan.byteCount(of: output), lifetime: next - 1...next))
    }
    var layout = Layout()
    try layout.assign(requests, to: outputs, subgraph: wiring.index)
    try preparation.reserve(layout.byteCount)
    return try SegmentPlan(
      index: start.segmentCount, nodes: next..<next, steps: [], facts: plan.facts, layout: layout,
      pinned: try pinConstants(), scratchByteCounts: plan.scratchByteCounts,
      delivery: .init(operation: operation, node: next - 1), heldByteCount: preparation.heldByteCount,
      checkedWith: PlanChecker(wiring: wiring, before: start.present, limits: context.limits))
  }

  /// Lets an operator prepare itself. The result is a step, constants or a view.
  ///
  /// - Returns: the operator, if it is deferred.
  private func prepareOperator(_ index: Int) throws(ApusError) -> (any DeferredOperator)? {
    try context.limits.checkTime()
    let entry = wiring.subgraph.operators[index]
    let node = Node(index: index, in: preparation)
    let registration = try context.registration(of: entry, at: index)
    var step = try preparation.prepared(registration, node, entry)
    switch step.facet {
    case .deferred(let deferred):
      plan.steps.append(step)
      return deferred
    default: break
    }
    for output in entry.outputs where plan.facts[output].shape == nil {
      throw node.unsupported("output \(wiring.name(of: output)) is not computed")
    }
    if case .done = step.facet { return nil }
    for pass in passes.ofOperators where try pass(&step, registration, preparation) { return nil }
    plan.steps.append(step)
    return nil
  }

  /// Pins the constants that are read during or after runs.
  private func pinConstants() throws(ApusError) -> [PlacedConstant] {
    var pinned: [PlacedConstant] = []
    var isPinned = Array(repeating: false, count: wiring.tensorCount)
    func pin(_ tensor: Int) throws(ApusError) {
      guard tensor < isPinned.count, !isPinned[tensor], let constant = plan.facts[tensor].constant else {
        return
      }
      isPinned[tensor] = true
      pinned.append(.init(tensor: tensor, buffer: try preparation.pinned(constant)))
    }
    for step in plan.steps { for tensor in step.reads { try pin(tensor) } }
    for output in wiring.subgraph.outputs { try pin(output) }
    if !passes.contains(.reuse) {
      for node in plan.nodes {
        for tensor in wiring.subgraph.operators[node].inputs + wiring.subgraph.operators[node].outputs
        where tensor >= 0 {
          try pin(tensor)
        }
      }
    }
    return pinned
  }
}
