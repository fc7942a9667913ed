// SPDX-License-Identifier: Apache-2.0

extension Pass {
  /// **Rule:** a tensor's live range goes from the step that writes it to the last that reads it or a view of
  /// it, or to the segment's end if a later segment or the caller does. Tensors share bytes only if their
  /// live ranges do not overlap.
  ///
  /// **Reason:** less memory fits better into caches, and into the machine.
  package static let reuse = Pass(
    "reuse", .segment { (plan, _) throws(ApusError) in plan.liveRanges = LiveRanges(of: plan) })
}

/// When the tensors of a segment are in use, by the operators' positions.
struct LiveRanges {
  /// For each tensor, the operator that writes it in this segment, or −1.
  private(set) var first: [Int]
  /// For each tensor, the last operator that reads it or a view of it.
  private(set) var last: [Int]

  /// The live ranges of the tensors that the steps of a plan write.
  init(of plan: PlanDraft) {
    let wiring = plan.wiring
    first = Array(repeating: -1, count: wiring.tensorCount)
    last = first
    for step in plan.steps {
      for tensor in step.writes where !wiring.isVariable(tensor) {
        first[tensor] = step.position
        last[tensor] = max(last[tensor], step.position)
      }
      for tensor in step.reads where tensor < wiring.tensorCount {
        let root = plan.facts[tensor].root
        last[root] = max(last[root], step.position)
      }
    }
    let end = plan.nodes.upperBound
    for node in plan.nodes {
      for tensor in wiring.subgraph.operators[node].outputs where plan.facts[tensor].constant == nil {
        if wiring.isOutput[tensor] || (wiring.readers(of: tensor).last ?? -1) >= end {
          last[plan.facts[tensor].root] = end
        }
      }
    }
  }
}
