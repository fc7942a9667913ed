// SPDX-License-Identifier: Apache-2.0

/// One thing to do in a run: an operator of the file, or several as one.
struct StepDraft {
  /// The operator that decides where in the order the step stands.
  var position: Int
  /// The operators of the file that it does: the one that gives it its name, then those that it has absorbed.
  var nodes: [Int]
  var operation: any Operator
  /// The tensors that it reads while it runs.
  var reads: [Int]
  /// The tensors that it writes.
  var writes: [Int]
  /// The pieces of scratch memory that it works in.
  var scratch: [Int]
  /// The multiplications, each with an addition, of one run.
  var multiplyAccumulates = 0

  /// Whether it does an operator of the file.
  func does(_ node: Int) -> Bool { nodes.contains(node) }

  /// Takes over what another step does.
  mutating func absorb(_ other: StepDraft) {
    nodes += other.nodes
    scratch += other.scratch
    multiplyAccumulates += other.multiplyAccumulates
  }
}

/// A step of a finished plan. A class, so that the walk copies no operators.
final class Step {
  /// See ``StepDraft``.
  let position: Int
  let nodes: [Int]
  let operation: any Operator
  let reads: [Int]
  let writes: [Int]
  let scratch: [Int]
  let multiplyAccumulates: Int

  /// The operator of the file that gives the step its name.
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

  /// Runs the operator where it is.
  @inline(never)
  func invoke(_ table: borrowing TensorTable) throws(ApusError) { try operation.invoke(table) }
}
