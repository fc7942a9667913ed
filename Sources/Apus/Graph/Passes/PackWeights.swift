// SPDX-License-Identifier: Apache-2.0
import ApusKernels

extension Pass {
  /// **Rule:** the constant weights of each step are packed for its kernel.
  ///
  /// **Reason:** they are packed once for all runs and interpreters; no later pass changes a kernel.
  static let weights = Pass(
    "weights", isOptional: false,
    .segment { (plan, preparation) throws(ApusError) in
      for index in plan.steps.indices { plan.steps[index] = try preparation.packed(plan.steps[index]) }
    })
}

extension Preparation {
  /// The step with its weights packed, if it has any that are not.
  func packed(_ step: Step) throws(ApusError) -> Step {
    guard let unpacked = step.operation.unpacked else { return step }
    try context.limits.checkTime()
    let packer = WeightPacker(Node(index: step.nodes[0], in: self), self)
    record = AccessRecord()
    let operation = try unpacked.packed(by: packer)
    return step.doing(
      operation, reads: step.reads.filter { !packer.packed.contains($0) }, scratch: record.scratch)
  }
}
