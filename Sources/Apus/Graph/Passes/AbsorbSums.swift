// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// A sum of two float tensors, clamped to two bounds.
struct FloatSum {
  let lhs: TensorSlot
  let rhs: TensorSlot
  let output: TensorSlot
  let minimum: Float
  let maximum: Float
}

extension Pass {
  /// **Rule:** the product that produces one operand of a sum of two equally shaped tensors computes the sum,
  /// if it has no other consumer. If the other operand is computed later, the product moves to just after it.
  ///
  /// **Reason:** the product's outputs are still in the cache when the other operand is added.
  package static let sums = Pass("sums", .segment { (plan, _) throws(ApusError) in plan.absorbSums() })
}

extension PlanDraft {
  fileprivate func absorbSums() {
    guard contains(where: { $0.floatSum != nil }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    var writers = writers
    for index in steps.indices {
      // A step that reads the variable before the sum must not see the result.
      guard let sum = steps[index].facet.floatSum, !isVariable(sum.output.index) else { continue }
      for (input, other) in [(sum.lhs, sum.rhs), (sum.rhs, sum.lhs)] {
        guard input.shape == other.shape, input.shape == sum.output.shape, input.index != other.index,
          input.index < writers.count, writers[input.index] >= 0, other.index < writers.count,
          !wiring.isVariable(facts[other.index].root),
          isRead(input.index, byNoneBut: steps[index])
        else { continue }
        let source = writers[input.index]
        guard steps[source].reads.allSatisfy({ !isVariable($0) }),
          case .product(let product) = steps[source].facet,
          let fused = product.adding(
            other, within: sum.minimum, sum.maximum, to: sum.output, using: kernels)
        else { continue }
        // A view is written by the writer of its root.
        let isLater = writers[facts[other.index].root] > source
        let place = isLater ? index : source
        isAbsorbed[isLater ? source : index] = true
        steps[place] = steps[source].doing(
          fused, absorbing: [steps[index]], position: steps[place].position,
          reads: steps[source].reads + [other.index], writes: [sum.output.index])
        writers[sum.output.index] = place
        break
      }
    }
    removeSteps { isAbsorbed[$0] }
  }
}
