// SPDX-License-Identifier: Apache-2.0

/// One step of a run: an operator of the file, or several as one.
struct StepDraft {
  /// The operator that decides the step's position in the order.
  var position: Int
  /// The operators of the file that it covers: the one that names it, then those that it absorbs.
  var nodes: [Int]
  var operation: any Operator
  /// The tensors that it reads during a run.
  var reads: [Int]
  /// The tensors that it writes.
  var writes: [Int]
  /// The scratch memory that it uses.
  var scratch: [Int]
  /// The multiply-accumulates of one run.
  var multiplyAccumulates = 0

  /// Whether it covers an operator of the file.
  func does(_ node: Int) -> Bool { nodes.contains(node) }

  /// Takes over the work of another step.
  mutating func absorb(_ other: StepDraft) {
    nodes += other.nodes
    scratch += other.scratch
    multiplyAccumulates += other.multiplyAccumulates
  }
}

/// A step of a finished plan. It is a class so that the walk copies no operators.
final class Step {
  /// See ``StepDraft``.
  let position: Int
  let nodes: [Int]
  let operation: any Operator
  let reads: [Int]
  let writes: [Int]
  let scratch: [Int]
  let multiplyAccumulates: Int

  /// The operator of the file that names the step.
  var node: Int { nodes[0] }

  init(_ draft: StepDraft) {
    position = draft.position
    nodes = draft.nodes
    operation = draft.operation
    reads = draft.reads
    writes = draft.writes
    scratch = draft.scratch
    multiplyAccumulates = draft.multiplyAccumulates
  }

  /// About how many steps a run takes: an element that is read or written is one, and so is a multiply-accumulate.
  func work(_ facts: [TensorFacts]) -> Int {
    (reads + writes).reduce(multiplyAccumulates.addingClamped(1)) { sum, tensor in
      sum.addingClamped(tensor < facts.count ? facts[tensor].shape?.elementCount ?? 0 : 0)
    }
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
