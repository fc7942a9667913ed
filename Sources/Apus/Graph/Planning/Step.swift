// SPDX-License-Identifier: Apache-2.0

/// A step of a plan: one operator of the file, or several as one. Immutable: a pass that changes a step makes another.
///
/// It is a class so that neither passes nor the walk copy operators.
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
  /// The same and other work that the operator declared, in multiply-accumulates of fast kernels that take as long.
  let work: Int

  init(
    position: Int, nodes: [Int], operation: any Operator, reads: [Int], writes: [Int], scratch: [Int],
    multiplyAccumulates: Int = 0, work: Int = 0
  ) {
    self.position = position
    self.nodes = nodes
    self.operation = operation
    self.reads = reads
    self.writes = writes
    self.scratch = scratch
    self.multiplyAccumulates = multiplyAccumulates
    self.work = max(work, multiplyAccumulates)
  }

  /// The step with another operation, which may do the work of other steps, too.
  ///
  /// - Parameters:
  ///   - others: the steps that it absorbs.
  ///   - more: scratch memory that it needs beside theirs.
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
      multiplyAccumulates: multiplyAccumulates, work: work)
  }

  /// Whether it covers an operator of the file.
  func does(_ node: Int) -> Bool { nodes.contains(node) }

  /// How many elements it reads and writes; tensors without a shape and scratch memory have none. Loops may run over the other sizes of
  /// tensors without elements: the sum of their extents.
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

  /// Runs the operator without copying it.
  @inline(never)
  func invoke(_ table: borrowing TensorTable) throws(ApusError) { try operation.invoke(table) }
}

extension Int {
  /// The sum, or the largest number where that is more.
  func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
