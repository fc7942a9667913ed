// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// A product, ready to run.
struct PackedProduct: Operator {
  let kernel: any PreparedConvolution
  let choice: KernelChoice
  let input: TensorSlot
  let output: TensorSlot
  let scratch: TensorSlot
  let weights: ProductWeights
  let following: WeightedProduct.Following?
  /// The weights, if they were packed at preparation; nil if each run packs them.
  private let known: PackedWeights?

  init(
    kernel: any PreparedConvolution, choice: KernelChoice, input: TensorSlot, output: TensorSlot,
    scratch: TensorSlot, weights: ProductWeights, following: WeightedProduct.Following?
  ) {
    self.kernel = kernel
    self.choice = choice
    self.input = input
    self.output = output
    self.scratch = scratch
    self.weights = weights
    self.following = following
    known = weights.known
  }

  var implementation: Implementation {
    Implementation(
      text: kernel.implementation, choice: choice,
      notes: kernel.notes(known) + (following?.operations.notes ?? []))
  }

  var summation: String? { kernel.summation }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    if let known { return run(known, tensors) }
    run(try weights.packed(for: kernel, tensors), tensors)
  }

  @inline(__always)
  private func run(_ packed: PackedWeights, _ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var scratch = tensors.writeBytes(scratch)
    guard let following else {
      kernel.run(
        packed, input: tensors.readBytes(input), output: &result, scratch: &scratch, threads: tensors.threads)
      return
    }
    if let other = following.other {
      following.kernel.run(
        packed, input: tensors.readBytes(input), other: tensors.readBytes(other),
        postOperations: following.operations,
        output: &result, scratch: &scratch, threads: tensors.threads)
    } else {
      following.kernel.run(
        packed, input: tensors.readBytes(input), other: nil, postOperations: following.operations,
        output: &result,
        scratch: &scratch, threads: tensors.threads)
    }
  }
}
