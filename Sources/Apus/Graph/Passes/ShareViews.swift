// SPDX-License-Identifier: Apache-2.0

extension PlanDraft {
  /// **Rule:** a tensor with the elements of another in the same order shares its bytes, and nothing is done; except if
  /// either keeps its values between runs, because these may change before the other is read.
  /// **Reason:** RESHAPE, SQUEEZE, EXPAND_DIMS and similar operators would copy, and take memory twice.
  ///
  /// - Parameter operands: What the operator reads. Its shape depends on all of it.
  /// - Returns: whether the rule applies; then nothing is left to do.
  mutating func share(_ view: ViewOperator, operands: [Int]) -> Bool {
    let (input, output) = (view.input.index, view.output.index)
    guard input < wiring.tensorCount, output < wiring.tensorCount,
      !wiring.isVariable(facts[input].root), !wiring.isVariable(output)
    else { return false }
    facts[output].root = facts[input].root
    facts[output].constant = facts[input].constant.map { constant in
      let isOfModel = operands.allSatisfy { $0 < 0 || facts[$0].constant?.isOfModel == true }
      return Constant(constant.state, byteCount: constant.byteCount, isOfModel: isOfModel)
    }
    return true
  }
}
