// SPDX-License-Identifier: Apache-2.0

extension Pass {
  /// **Rule:** the result of an operator that reads each element before it writes the element's result
  /// overwrites an operand, if that has the same size, is of the same segment, and is not read later.
  ///
  /// **Reason:** less memory fits better in caches, and touching memory for the first time costs more than
  /// the work.
  package static let overwriting = Pass(
    "overwriting",
    .segment { (plan, _) throws(ApusError) in
      guard let ranges = plan.liveRanges else { return }
      plan.overwritten = try plan.overwrittenOperands(first: ranges.first, last: ranges.last)
    })
}

extension PlanDraft {
  /// The results that overwrite an operand.
  ///
  /// - Parameters:
  ///   - first: for each tensor, the operator that writes it in this segment, or −1.
  ///   - last: for each tensor, the last operator that reads it.
  /// - Returns: for each tensor, the one that it overwrites, which may itself overwrite another; or −1.
  fileprivate func overwrittenOperands(first: [Int], last: [Int]) throws(ApusError) -> [Int] {
    var overwritten = Array(repeating: -1, count: wiring.tensorCount)
    var isTaken = Array(repeating: false, count: wiring.tensorCount)
    for step in steps where step.writes.count == 1 {
      let output = step.writes[0]
      guard output < wiring.tensorCount, !wiring.isVariable(output) else { continue }
      for input in step.facet.overwritableInputs where input.index < wiring.tensorCount {
        let root = facts[input.index].root
        guard facts[input.index].constant == nil, !wiring.isVariable(root), first[root] >= 0,
          last[root] == step.position, !isTaken[root], root != output,
          step.reads.allSatisfy({ $0 == input.index || $0 >= facts.count || facts[$0].root != root }),
          try byteCount(of: root) == byteCount(of: output)
        else { continue }
        overwritten[output] = root
        isTaken[root] = true
        break
      }
    }
    return overwritten
  }
}
