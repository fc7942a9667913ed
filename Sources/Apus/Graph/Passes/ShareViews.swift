// SPDX-License-Identifier: Apache-2.0

extension PlanDraft {
  /// **Rule:** a tensor with the elements of another in the same order shares its bytes, and nothing is done; except if
  /// either keeps its values between runs, because these may change before the other is read.
  /// **Reason:** RESHAPE, SQUEEZE, EXPAND_DIMS and similar operators would copy, and take memory twice.
  ///
  /// - Returns: whether the rule applies; then nothing is left to do.
  mutating func share(_ view: ViewOperator) -> Bool {
    let (input, output) = (view.input.index, view.output.index)
    guard input < wiring.tensorCount, output < wiring.tensorCount,
      !wiring.isVariable(facts[input].root), !wiring.isVariable(output)
    else { return false }
    facts[output].root = facts[input].root
    facts[output].constant = facts[input].constant
    return true
  }
}
