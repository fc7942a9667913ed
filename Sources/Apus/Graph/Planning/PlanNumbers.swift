// SPDX-License-Identifier: Apache-2.0

/// The first segment of a plan as numbers, so that tests can break it and see the checker refuse it.
package struct PlanNumbers {
  /// A step: the operators that it covers, and the indices of its tensors.
  package struct Step {
    package var position: Int
    package var nodes: [Int]
    package var reads: [Int]
    package var writes: [Int]
    package var scratch: [Int]
    /// Whether its operator may permit its result to overwrite an operand.
    package var mayOverwrite = true
    fileprivate let operation: any Operator
  }

  /// A tensor's range of bytes in the block.
  package struct Place {
    package var tensor: Int
    package var offset: Int
    package var byteCount: Int
  }

  package var steps: [Step]
  package var places: [Place]
  package var blockByteCount: Int
  /// The constants that are in place.
  package var pinned: [Int]
}

extension Interpreter {
  /// Checks the first segment of the plan after a change.
  ///
  /// - Throws: `internalError` if the changed plan is not sound.
  package func checkPlan(after change: (inout PlanNumbers) -> Void) throws(ApusError) {
    guard let plan = graph.segments.first?.plan, let inputs = graph.inputs else { return }
    var numbers = PlanNumbers(
      steps: plan.steps.map {
        .init(
          position: $0.position, nodes: $0.nodes, reads: $0.reads, writes: $0.writes, scratch: $0.scratch,
          operation: $0.operation)
      },
      places: plan.layout.places.map { .init(tensor: $0.tensor, offset: $0.offset, byteCount: $0.byteCount) },
      blockByteCount: plan.layout.byteCount, pinned: plan.pinned.map { $0.tensor })
    change(&numbers)
    var layout = plan.layout
    layout.byteCount = numbers.blockByteCount
    layout.places = numbers.places.map {
      .init(tensor: $0.tensor, offset: $0.offset, byteCount: $0.byteCount, lifetime: 0...0)
    }
    let steps = numbers.steps.map {
      Step(
        position: $0.position, nodes: $0.nodes,
        operation: $0.mayOverwrite ? $0.operation : ConstantOutputs(), reads: $0.reads, writes: $0.writes,
        scratch: $0.scratch)
    }
    let checker = PlanChecker(wiring: graph.wiring, before: inputs.start.present)
    _ = try checker.check(
      .init(
        nodes: plan.nodes, steps: steps, facts: plan.facts, layout: layout, pinned: numbers.pinned,
        scratchByteCounts: plan.scratchByteCounts, isDeferred: plan.deferred != nil))
  }
}
