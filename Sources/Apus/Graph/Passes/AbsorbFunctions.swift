// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// An elementwise function of a float tensor that the step before may compute.
struct FloatFunctionStep {
  let input: TensorSlot
  let output: TensorSlot
  let tail: PostOperation
}

extension FloatFunction {
  /// Whether memory traffic for its argument takes longer than computing the function.
  var isCheap: Bool {
    switch self {
    case .clamp, .leakyRelu, .hardSwish, .swish: true
    case .absolute, .negate, .square, .squareRoot, .inverseSquareRoot, .floor, .ceil, .round, .sign, .exp,
      .log,
      .sin, .cos, .tanh, .logistic, .elu, .gelu, .halfGelu, .fakeQuantize:
      false
    }
  }
}

extension Pass {
  /// **Rule:** the convolution, sum or product that produces the argument of a float function computes the
  /// function too, if it has no other consumer. Not if the result keeps its values between runs, because they
  /// may be read before they are replaced.
  ///
  /// **Reason:** the argument is still in the cache.
  package static let functions = Pass(
    "functions", .segment { (plan, _) throws(ApusError) in plan.absorbFunctions() })
}

extension PlanDraft {
  fileprivate func absorbFunctions() {
    guard contains(where: { $0.functionInput != nil }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    var writers = writers
    for index in steps.indices {
      guard let input = steps[index].facet.functionInput, input.type == .float32,
        input.index < writers.count, writers[input.index] >= 0,
        isRead(input.index, byNoneBut: steps[index]),
        steps[writers[input.index]].facet.canBeFollowed,
        let function = steps[index].facet.floatFunction(using: kernels),
        !isVariable(function.output.index)
      else { continue }
      let source = writers[input.index]
      guard let fused = steps[source].facet.followed(by: function.tail, to: function.output) else {
        continue
      }
      steps[source] = steps[source].doing(
        fused, absorbing: [steps[index]], writes: [function.output.index])
      writers[function.output.index] = source
      isAbsorbed[index] = true
    }
    removeSteps { isAbsorbed[$0] }
  }
}
