// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import ApusKernels
import ApusRuntime

/// A running subgraph: the plan for the current input shapes, the plan's memory, and the loop over its steps.
///
/// ``Planner`` creates plans, which are immutable. A graph holds the current one, segment by segment, and its
/// memory. Other shapes, or other values that decide shapes, replace the plan.
final class Graph {
  /// The interpreter owns it, and all of its graphs.
  unowned let context: GraphContext
  let wiring: Wiring
  /// The rewrites that planning applies.
  let passes: Passes
  var model: Model { context.model }
  var subgraph: SubgraphEntry { wiring.subgraph }
  var subgraphIndex: Int { wiring.index }
  var memoryLimit: Int { context.memoryLimit }

  /// The shapes to plan for, by position; see ``setInputShape(_:_:)``.
  private(set) var inputShapes: [TensorShape] { didSet { isPrepared = inputs?.shapes == inputShapes } }
  /// The inputs of the current plan; nil before the first.
  private(set) var inputs: PlannedInputs? { didSet { isPrepared = inputs?.shapes == inputShapes } }
  /// Whether there is a plan for the current input shapes; updated when either changes, because each run
  /// reads it.
  private(set) var isPrepared = false
  private var inputMemory: TensorMemory?
  /// The segments that are planned so far, with their memory.
  private(set) var segments: [Segment] = []
  private let heldMemory: HeldMemory
  /// The bytes of this graph that ``heldMemory`` counts.
  private(set) var countedByteCount = 0
  /// The memory of variables, by tensor.
  private var variables: [(tensor: Int, memory: TensorMemory)] = []
  /// The memory of each tensor, then of each piece of scratch memory.
  let buffers: TensorBuffers
  /// A planned segment with its memory.
  final class Segment {
    let plan: SegmentPlan
    let memory: TensorMemory

    init(_ plan: SegmentPlan, _ memory: TensorMemory) {
      self.plan = plan
      self.memory = memory
    }
  }

  /// The number of operators that call it; see ``SubgraphCall``.
  var callCount = 0
  /// Whether its inputs are different tensors.
  private(set) lazy var hasDistinctInputs = Set(subgraph.inputs).count == subgraph.inputs.count

  /// Whether a run is under way, so that a new segment can read the results of earlier ones.
  var isRunning = false

  /// The shapes before a run dropped segments, until it has planned the last one anew; empty in graphs without random numbers.
  private var formerShapes: [TensorShape?] = []
  /// The first operator with a result of another shape than before; `.max` if there is none so far.
  private var firstResized = Int.max

  init(context: GraphContext, subgraph index: Int, passes: Passes) throws(ApusError) {
    self.context = context
    heldMemory = context.heldMemory
    self.passes = passes
    let wiring = try Wiring(context.model, subgraph: index)
    self.wiring = wiring
    inputShapes = wiring.declaredInputShapes
    buffers = TensorBuffers(capacity: wiring.tensorCount + wiring.nodeCount)
  }

  deinit { heldMemory.byteCount -= countedByteCount }

  /// The tensors' memory as operators see it.
  var table: TensorTable { unsafe TensorTable(buffers.base, threads: context.threadsInUse) }

  /// Calls `body` with the table of tensors, whose elements are valid after a run.
  func withTable<R, E: Error>(_ body: (borrowing TensorTable) throws(E) -> R) throws(E) -> R {
    try body(table)
  }

  /// The addresses of a tensor's bytes; empty if it has no memory yet.
  func addresses(of tensor: Int) -> Range<UInt> {
    unsafe table.readBytes(at: tensor).withUnsafeBytes { bytes in
      let start = UInt(bitPattern: bytes.baseAddress)
      return start..<start &+ UInt(bitPattern: bytes.count)
    }
  }

  /// The facts about each tensor so far.
  var facts: [TensorFacts] { segments.last?.plan.facts ?? inputs?.facts ?? [] }

  /// A tensor's shape, if it is known.
  func shape(of tensor: Int) -> TensorShape? {
    let facts = facts
    return facts.isEmpty ? nil : facts[tensor].shape
  }

  /// The estimated duration of the planned segments on one thread.
  var nanoseconds: Int { segments.reduce(0) { $0 &+ $1.plan.nanoseconds } }

  // MARK: Planning

  /// Changes the shape of an input; the next ``prepare()`` plans anew.
  func setInputShape(_ position: Int, _ shape: TensorShape) {
    if inputShapes[position] != shape { inputShapes[position] = shape }
  }

  /// Whether the whole graph is planned, so that the shapes of all outputs are known.
  var isPlanned: Bool { isPrepared && segments.last?.plan.isLast(of: wiring.nodeCount) == true }

  /// Plans the graph for its input shapes, as far as possible before data arrives.
  ///
  /// - Throws: if the model cannot run with these shapes; the graph then keeps its previous plan.
  func prepare() throws(ApusError) {
    guard !isPrepared else { return }
    let inputs = try PlannedInputs(wiring, model, shapes: inputShapes, memoryLimit: memoryLimit)
    let plan = try planner(after: inputs.start).segment()
    if self.inputs != nil {
      context.restartRandomStreams(ofSubgraph: subgraphIndex, in: 0..<wiring.nodeCount)
      formerShapes = []
    }
    do throws(ApusError) {
      try install(inputs)
      try install(plan)
    } catch {
      // The system refused memory: there is no plan, and the next run creates another.
      dropSegments(from: 0)
      self.inputs = nil
      throw error
    }
    resetVariables()
  }

  private func planner(after start: PlanStart) -> Planner {
    Planner(
      Preparation(wiring, context, after: start, buffers: buffers, replacing: countedByteCount), passes)
  }

  /// Plans the next segment, after the ones that have run.
  func planNextSegment() throws(ApusError) {
    guard let last = segments.last?.plan else { return }
    let start = PlanStart(
      nextNode: last.nodes.upperBound, facts: last.facts, scratchByteCounts: last.scratchByteCounts,
      present: last.present, segmentCount: segments.count, heldByteCount: heldByteCount, isRunning: isRunning)
    let planner = planner(after: start)
    if let deferred = last.deferred {
      try install(try planner.delivery(of: deferred))
    } else {
      try install(try planner.segment())
    }
  }

  // MARK: Memory

  private func install(_ inputs: PlannedInputs) throws(ApusError) {
    dropSegments(from: 0)
    inputMemory = nil
    self.inputs = inputs
    let memory = try TensorMemory(byteCount: inputs.layout.byteCount)
    inputMemory = memory
    defer { recount() }
    buffers.place(inputs.layout, in: memory)
    guard variables.isEmpty else { return }
    var made: [(tensor: Int, memory: TensorMemory)] = []
    for (tensor, byteCount) in inputs.variables {
      made.append((tensor, try TensorMemory(byteCount: byteCount)))
    }
    variables = made
    for ((tensor, memory), variable) in zip(made, inputs.variables) {
      buffers[tensor] = unsafe TensorBuffer(base: memory.base, byteCount: variable.byteCount)
    }
  }

  private func install(_ plan: SegmentPlan) throws(ApusError) {
    let memory = try TensorMemory(byteCount: plan.layout.byteCount)
    if Trace.isOn { plan.registerSteps(of: model, subgraph) }
    buffers.place(plan.layout, in: memory)
    for constant in plan.pinned { buffers[constant.tensor] = constant.buffer }
    segments.append(Segment(plan, memory))
    recount()
    restartRandomStreams(plan)
  }

  /// Drops segments whose preparation relied on values that are now others.
  func dropOutdatedSegments(from first: Int) {
    if context.drawsRandomNumbers(inSubgraph: subgraphIndex) {
      formerShapes = facts.map(\.shape)
      firstResized = .max
    }
    dropSegments(from: first)
  }

  /// Restarts the random numbers of operators that come after a result whose shape has changed.
  private func restartRandomStreams(_ plan: SegmentPlan) {
    guard !formerShapes.isEmpty else { return }
    let nodes = plan.delivery.map { $0.node..<$0.node + 1 } ?? plan.nodes
    for node in nodes where firstResized == .max {
      let isResized = subgraph.operators[node].outputs.contains { formerShapes[$0] != plan.facts[$0].shape }
      if isResized { firstResized = node }
    }
    if firstResized < nodes.upperBound {
      let later = max(firstResized + 1, nodes.lowerBound)..<nodes.upperBound
      context.restartRandomStreams(ofSubgraph: subgraphIndex, in: later)
    }
    if plan.isLast(of: wiring.nodeCount) { formerShapes = [] }
  }

  /// Updates the memory count of the graph.
  private func recount() {
    let held = heldByteCount
    heldMemory.byteCount += held - countedByteCount
    countedByteCount = held
  }

  /// Drops segments and their memory.
  func dropSegments(from first: Int) {
    guard first < segments.count else { return }
    for segment in segments[first...] {
      for place in segment.plan.layout.places { buffers[place.tensor] = .none }
      for view in segment.plan.layout.views { buffers[view.tensor] = .none }
      for constant in segment.plan.pinned { buffers[constant.tensor] = .none }
    }
    segments.removeSubrange(first...)
    recount()
    for segment in segments {
      for constant in segment.plan.pinned { buffers[constant.tensor] = constant.buffer }
    }
  }

  /// Sets variables to zero: the zero point of `int8` ones.
  func resetVariables() {
    for (tensor, memory) in variables {
      let entry = subgraph.tensors[tensor]
      let zero = wiring.types[tensor] == .int8 ? entry.parameters?.zeroPoint ?? 0 : 0
      unsafe memory.base.initializeMemory(
        as: UInt8.self, repeating: UInt8(truncatingIfNeeded: zero), count: memory.byteCount)
    }
  }

  /// Makes a constant readable for code other than an operator.
  func present(_ tensor: Int) throws(ApusError) {
    guard unsafe buffers[tensor].base == nil, let constant = facts[tensor].constant else { return }
    buffers[tensor] = try constant.pin()
  }

  /// The size of inputs, variables and planned segments, in bytes.
  private var heldByteCount: Int {
    segments.reduce(inputs?.heldByteCount ?? 0) {
      $0 + $1.plan.layout.byteCount + $1.plan.heldByteCount
    }
  }

  /// The layout of the tensors.
  var memoryPlan: MemoryPlan {
    var plan = MemoryPlan()
    guard let inputs else { return plan }
    let layouts = [inputs.layout] + segments.map(\.plan.layout)
    for (block, layout) in layouts.enumerated() {
      plan.arenaByteCount += layout.byteCount
      for place in layout.places {
        plan.entries.append(
          .init(
            name: place.tensor < wiring.tensorCount ? subgraph.tensors[place.tensor].name : "", block: block,
            offset: place.offset, byteCount: place.byteCount, lifetime: place.lifetime))
      }
    }
    plan.variableByteCount = inputs.variableByteCount
    return plan
  }
}
