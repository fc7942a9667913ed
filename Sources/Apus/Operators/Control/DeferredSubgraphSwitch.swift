// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Calls one of several subgraphs with the same inputs; only a run decides the output shapes.
final class DeferredSubgraphSwitch: DeferredOperator {
  private let choice: SubgraphChoice
  private let calls: [SubgraphCall]
  private let inputs: [TensorSlot]
  private var call: SubgraphCall

  /// Chooses among `calls`, which must not be empty.
  init(_ choice: SubgraphChoice, _ calls: [SubgraphCall], _ inputs: [TensorSlot]) {
    self.choice = choice
    self.calls = calls
    self.inputs = inputs
    call = calls[0]
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    call = calls[choice.position(among: calls.count, tensors)]
    try call.run(inputs, tensors)
  }

  func outputShape(_ position: Int) -> TensorShape { call.graph.outputShape(position) ?? [0] }

  func deliver(_ position: Int, into bytes: inout MutableRawSpan) throws(ApusError) {
    try call.graph.copyOutput(position, to: &bytes)
  }
}
