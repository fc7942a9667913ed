// SPDX-License-Identifier: Apache-2.0

extension Pass {
  /// **Rule:** a tensor with the elements of another in equal order shares its bytes, and no step is needed.
  /// Not if either keeps its values between runs, because these may change before the other is read.
  ///
  /// **Reason:** RESHAPE, SQUEEZE, EXPAND_DIMS and similar operators would copy, and take twice the memory.
  package static let views = Pass(
    "views", preservesTensors: true,
    .operators { (step, _, preparation) throws(ApusError) in
      guard case .view(let view) = step.facet else { return false }
      let operands = preparation.wiring.subgraph.operators[step.position].inputs
      return preparation.plan.share(view, operands: operands)
    })
}

extension PlanDraft {
  /// Lets a view share the bytes of its input, if the rule applies.
  ///
  /// - Parameter operands: all tensors that the operator reads, which its shape depends on.
  /// - Returns: whether the rule applies.
  fileprivate func share(_ view: ViewOperator, operands: [Int]) -> Bool {
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
