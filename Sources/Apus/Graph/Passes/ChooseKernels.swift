// SPDX-License-Identifier: Apache-2.0
import ApusKernels

extension Pass {
  /// **Rule:** each product gets the first kernel that takes it.
  ///
  /// **Reason:** the passes before change what products read; those after it must know the kernel.
  static let kernels = Pass(
    "kernels", isOptional: false,
    .segment { (plan, preparation) throws(ApusError) in
      for index in plan.steps.indices { plan.steps[index] = try preparation.chosen(plan.steps[index]) }
    })
}

extension Preparation {
  /// The step with its kernel chosen, if it has none yet.
  func chosen(_ step: Step) throws(ApusError) -> Step {
    guard case .draft(let draft) = step.facet else { return step }
    return step.doing(try draft.product(for: Node(index: step.nodes[0], in: self)))
  }
}
