// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Several operators in one pass over their tensors.
final class ChainOperator: Operator {
  private let chain: Chain
  private let inputs: [TensorSlot]
  private let output: TensorSlot
  private let scratch: TensorSlot

  /// Joins a chain with the tensors that it reads, in the order in which it counts them.
  init(_ chain: Chain, _ inputs: [TensorSlot], output: TensorSlot, scratch: TensorSlot) {
    self.chain = chain
    self.inputs = inputs
    self.output = output
    self.scratch = scratch
  }

  var implementation: Implementation {
    let parts = chain.parts
    return Implementation(
      text: chain.implementation, choice: KernelChoice(set: parts.kernelSet), notes: parts.notes)
  }

  var facet: Facet { .chain(self) }

  var overwritableInputs: [TensorSlot] {
    inputs.indices.filter { chain.mayOverwrite($0) }.map { inputs[$0] }
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var addresses = ChainInputs()
    for input in inputs { addresses.add(tensors.readBytes(input)) }
    var result = tensors.writeBytes(output)
    var memory = tensors.writeBytes(scratch)
    chain.run(addresses, to: &result, scratch: &memory, threads: tensors.threads)
  }
}
