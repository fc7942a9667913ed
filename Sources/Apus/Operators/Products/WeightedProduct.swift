// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// A product with a kernel, whose weights are not packed yet.
final class WeightedProduct: UnpackedOperator {
  /// The post-operations, their other tensor, and the kernel that does both product and post-operations. It is a class, so that
  /// a run copies none of it.
  final class Following: Sendable {
    let kernel: any PostOperatingConvolution
    let operations: PostOperations
    let other: TensorSlot?

    init(kernel: any PostOperatingConvolution, operations: PostOperations, other: TensorSlot?) {
      (self.kernel, self.operations, self.other) = (kernel, operations, other)
    }
  }

  let kernel: any PreparedConvolution
  let choice: KernelChoice
  let input: TensorSlot
  let output: TensorSlot
  let weights: ProductWeights
  let following: Following?

  init(
    kernel: any PreparedConvolution, choice: KernelChoice, input: TensorSlot, output: TensorSlot,
    weights: ProductWeights, following: Following? = nil
  ) {
    self.kernel = kernel
    self.choice = choice
    self.input = input
    self.output = output
    self.weights = weights
    self.following = following
  }

  var facet: Facet { .product(self) }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    throw ApusError(.internalError, "a product without packed weights was run")
  }

  /// The product with post-operations, which write another tensor.
  private func followed(by following: Following, to output: TensorSlot) -> WeightedProduct {
    WeightedProduct(
      kernel: kernel, choice: choice, input: input, output: output, weights: weights, following: following)
  }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator { try product(packedBy: packer) }

  /// The product, ready to run.
  func product(packedBy packer: WeightPacker) throws(ApusError) -> PackedProduct {
    var weights = weights
    try weights.pack(for: kernel, by: packer)
    return PackedProduct(
      kernel: kernel, choice: choice, input: input, output: output,
      scratch: try packer.scratch(byteCount: kernel.scratchByteCount(threads: packer.threadCount)),
      weights: weights, following: following)
  }

  /// The product followed by a function of each result; nil if its kernel cannot do that.
  func followed(by tail: PostOperation, to output: TensorSlot) -> WeightedProduct? {
    if let following {
      guard let longer = following.operations.followed(by: tail) else { return nil }
      return followed(
        by: Following(kernel: following.kernel, operations: longer, other: following.other), to: output)
    }
    guard let kernel = kernel.postOperating else { return nil }
    return followed(
      by: Following(kernel: kernel, operations: PostOperations(last: tail), other: nil), to: output)
  }

  /// The product with another tensor of its output's shape added and the sums clamped to two bounds; nil if its kernel
  /// cannot do that.
  func adding(
    _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot, using set: KernelSet
  ) -> WeightedProduct? {
    guard following == nil, output.type == .float32, let kernel = kernel.postOperating else { return nil }
    let operations = PostOperations(addingWithin: minimum, maximum, using: set)
    return followed(by: Following(kernel: kernel, operations: operations, other: other), to: output)
  }
}
