// SPDX-License-Identifier: Apache-2.0
import ApusAssembly

/// A step of a plan: one operator of the file, or several fused. Immutable: a pass that changes a step
/// creates another.
///
/// It is a class so that neither passes nor runs copy operators.
final class Step {
  /// The operator that decides the step's position in the order.
  let position: Int
  /// The operators of the file that it covers: the one that names it, then those that it absorbs.
  let nodes: [Int]
  let operation: any Operator
  /// The tensors that it reads during a run.
  let reads: [Int]
  /// The tensors that it writes.
  let writes: [Int]
  /// The scratch memory that it uses.
  let scratch: [Int]
  /// The multiply-accumulates of one run.
  let multiplyAccumulates: Int
  /// The multiply-accumulates plus other work that the operator declared, in multiply-accumulates of fast
  /// kernels of equal duration.
  let work: Int
  /// Why it was not joined with the steps before it, if it was tried; nil if it was joined.
  let decline: Decline?

  init(
    position: Int, nodes: [Int], operation: any Operator, reads: [Int], writes: [Int], scratch: [Int],
    multiplyAccumulates: Int = 0, work: Int = 0, decline: Decline? = nil
  ) {
    self.position = position
    self.nodes = nodes
    self.operation = operation
    self.reads = reads
    self.writes = writes
    self.scratch = scratch
    self.multiplyAccumulates = multiplyAccumulates
    self.work = max(work, multiplyAccumulates)
    self.decline = decline
  }

  /// A step with another operation, which may include the work of other steps.
  ///
  /// - Parameters:
  ///   - others: the steps that it absorbs.
  ///   - more: additional scratch memory.
  func doing(
    _ operation: any Operator, absorbing others: [Step] = [], position: Int? = nil, reads: [Int]? = nil,
    writes: [Int]? = nil, scratch more: [Int] = []
  ) -> Step {
    var (nodes, scratch, multiplyAccumulates, work) = (nodes, scratch, multiplyAccumulates, work)
    for other in others {
      nodes += other.nodes
      scratch += other.scratch
      multiplyAccumulates = multiplyAccumulates.addingClamped(other.multiplyAccumulates)
      work = work.addingClamped(other.work)
    }
    if !more.isEmpty { scratch += more }
    return Step(
      position: position ?? self.position, nodes: nodes, operation: operation, reads: reads ?? self.reads,
      writes: writes ?? self.writes, scratch: scratch,
      multiplyAccumulates: multiplyAccumulates, work: work, decline: others.isEmpty ? decline : nil)
  }

  /// This step, with the reason that it could not be joined with those before it.
  func declining(_ decline: Decline) -> Step {
    Step(
      position: position, nodes: nodes, operation: operation, reads: reads, writes: writes, scratch: scratch,
      multiplyAccumulates: multiplyAccumulates, work: work, decline: decline)
  }

  /// How it does its work, and why it was not joined with the steps before it.
  var implementation: Implementation {
    var implementation = operation.implementation
    if let decline {
      implementation.notes.append("not one loop with the operators before it, as \(decline)")
    }
    return implementation
  }

  /// Whether it covers an operator of the file.
  func does(_ node: Int) -> Bool { nodes.contains(node) }

  /// The number of elements that it reads and writes, without scratch memory and tensors of unknown shape.
  /// For tensors without elements, also the sum of their extents, because loops may run over their other
  /// dimensions.
  func elementCount(_ facts: [TensorFacts]) -> (count: Int, emptyExtent: Int) {
    var (count, emptyExtent) = (0, 0)
    func add(_ tensor: Int) {
      guard tensor < facts.count, let shape = facts[tensor].shape else { return }
      let elements = shape.elementCount
      count = count.addingClamped(elements)
      if elements == 0 { emptyExtent = emptyExtent.addingClamped(shape.extent) }
    }
    for tensor in reads { add(tensor) }
    for tensor in writes { add(tensor) }
    return (count, emptyExtent)
  }

  /// The operator's kind for passes.
  var facet: Facet { operation.facet }

  /// Whether its duration is unknown.
  var isForeign: Bool { if case .foreign = facet { true } else { false } }

  /// Runs the operator without copying it.
  @inline(never)
  func invoke(_ table: borrowing TensorTable) throws(ApusError) { try operation.invoke(table) }
}

extension Int {
  /// The sum, or `.max` on overflow.
  func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
