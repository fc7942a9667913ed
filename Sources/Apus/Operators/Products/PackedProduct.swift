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

  var implementation: Implementation {
    Implementation(text: kernel.implementation, choice: choice, notes: kernel.notes(weights.known))
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    let packed = try weights.packed(for: kernel, tensors)
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
