// SPDX-License-Identifier: Apache-2.0

extension PlanDraft {
  /// **Rule:** the result of an operator that reads each element before it writes the one in its place lies where an operand
  /// was, if that is as large, of the same segment, and read by nothing else from then on.
  /// **Reason:** the caches hold less memory better; and memory that is touched for the first time costs more than the work.
  ///
  /// - Parameters:
  ///   - first: of each tensor the operator that writes it in this segment, or −1.
  ///   - last: of each tensor the last that reads it.
  /// - Returns: of each tensor the one where it lies, which may itself lie where another does, or −1.
  func overwrittenOperands(first: [Int], last: [Int]) throws(ApusError) -> [Int] {
    var overwritten = Array(repeating: -1, count: wiring.tensorCount)
    var isTaken = Array(repeating: false, count: wiring.tensorCount)
    for step in steps where step.writes.count == 1 {
      let output = step.writes[0]
      guard output < wiring.tensorCount, !wiring.isVariable(output) else { continue }
      for input in step.operation.overwritableInputs where input.index < wiring.tensorCount {
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
