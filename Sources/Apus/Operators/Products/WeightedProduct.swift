// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// A product with a kernel, whose weights are not packed yet.
struct WeightedProduct: Draft {
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
  var output: TensorSlot
  var weights: ProductWeights
  var following: Following?

  var hasWeights: Bool { true }
  var canBeFollowed: Bool { true }

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

  func followed(by tail: PostOperation, to output: TensorSlot) -> (any Operator)? {
    var copy = self
    copy.output = output
    if let following {
      guard let longer = following.operations.followed(by: tail) else { return nil }
      copy.following = Following(kernel: following.kernel, operations: longer, other: following.other)
    } else {
      guard let kernel = kernel.postOperating else { return nil }
      copy.following = Following(kernel: kernel, operations: PostOperations(last: tail), other: nil)
    }
    return copy
  }

  func adding(
    _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot, using set: KernelSet
  ) -> (any Operator)? {
    guard following == nil, output.type == .float32, let kernel = kernel.postOperating else { return nil }
    var copy = self
    copy.output = output
    copy.following = Following(
      kernel: kernel, operations: PostOperations(addingWithin: minimum, maximum, using: set), other: other)
    return copy
  }
}
