// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import ApusKernels

/// The state that the operators and passes of one segment share while it is planned: the plan so far, the
/// values and conditions that it relies on, and the memory that it may take.
///
/// A ``Node`` gives an operator its part of it; a ``Pass`` gets all of it.
final class Preparation {
  let model: Model
  let context: GraphContext
  let wiring: Wiring
  /// The state before the segment.
  let start: PlanStart
  /// The memory of tensors that exist already.
  private let buffers: TensorBuffers
  /// The size of the memory that the new plan replaces.
  private let replacedByteCount: Int
  /// The plan so far.
  let plan: PlanDraft
  /// The accesses of the operator in preparation so far.
  var record = AccessRecord()
  /// For each tensor: the operator that was last prepared to write it.
  private var lastWriters: [Int]

  /// The bytes of tensors that planning relies on.
  private(set) var assumptions: [(tensor: Int, bytes: [UInt8])] = []
  /// For each tensor: whether planning relies on its bytes; empty while there is none.
  private var isAssumed: [Bool] = []
  private var assumedByteCount = 0
  /// Conditions that planning relies on.
  private(set) var conditions: [() -> Bool] = []
  /// The size of the segment's memory outside the arena: packed weights, folded constants, tables, values
  /// that it relies on, and facts about tensors.
  private(set) var heldByteCount = 0

  /// The tensors that an operator uses and the work that it does, recorded while it prepares.
  struct AccessRecord {
    var reads: [Int] = []
    var writes: [Int] = []
    var scratch: [Int] = []
    var multiplyAccumulates = 0
    var work = 0
  }

  /// Prepares to plan what follows `start`.
  ///
  /// - Parameters:
  ///   - buffers: the memory of tensors that exist already.
  ///   - replacedByteCount: the size of the memory that the new plan replaces.
  init(
    _ wiring: Wiring, _ context: GraphContext, after start: PlanStart, buffers: TensorBuffers,
    replacing replacedByteCount: Int
  ) {
    model = context.model
    self.context = context
    self.wiring = wiring
    self.start = start
    self.buffers = buffers
    self.replacedByteCount = replacedByteCount
    lastWriters = Array(repeating: -1, count: wiring.tensorCount)
    plan = PlanDraft(wiring, kernels: context.kernels, after: start, limits: context.limits)
  }

  // MARK: Operators

  /// Lets an operator prepare itself; what it has done so far is undone if it throws.
  func prepared(
    _ registration: OperatorRegistration, _ node: Node, _ entry: OperatorEntry
  ) throws(ApusError) -> Step {
    record = AccessRecord()
    record.reads.reserveCapacity(entry.inputs.count)
    let scratchCount = plan.scratchByteCounts.count
    let (heldBefore, assumedBefore) = (heldByteCount, assumedByteCount)
    let operation: any Operator
    do throws(ApusError) { operation = try registration.prepare(node) } catch {
      plan.scratchByteCounts.removeSubrange(scratchCount...)
      // The values that it has read stay recorded.
      heldByteCount = heldBefore + assumedByteCount - assumedBefore
      for output in record.writes where !wiring.isVariable(output) { plan.facts[output].shape = nil }
      throw error
    }
    return Step(
      position: node.index, nodes: [node.index], operation: operation, reads: record.reads,
      writes: record.writes, scratch: record.scratch, multiplyAccumulates: record.multiplyAccumulates,
      work: record.work)
  }

  // MARK: Facts

  /// Records that the operator in preparation writes a tensor.
  func noteWrite(_ tensor: Int, by node: Int) {
    if lastWriters[tensor] != node { record.writes.append(tensor) }
    lastWriters[tensor] = node
  }

  /// The bytes of a tensor that exist before the segment runs; nil if there are none. Planning then relies on them.
  func present(_ tensor: Int) throws(ApusError) -> UnsafeRawBufferPointer? {
    guard start.isRunning, tensor < wiring.tensorCount, start.present[tensor] else { return nil }
    let buffer = buffers[tensor]
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount)
    try unsafe assume(tensor, holds: bytes)
    return unsafe bytes
  }

  /// Records that planning relies on a tensor's bytes from the last run, once.
  private func assume(_ tensor: Int, holds bytes: UnsafeRawBufferPointer) throws(ApusError) {
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
      byteCount, beside: start.heldByteCount.addingClamped(heldByteCount), insteadOf: replacedByteCount,
      "subgraph \(wiring.index)")
  }

  /// Records bytes that the segment keeps outside the arena.
  func hold(_ byteCount: Int) throws(ApusError) {
    try reserve(byteCount)
    heldByteCount = heldByteCount.addingClamped(byteCount)
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
}
