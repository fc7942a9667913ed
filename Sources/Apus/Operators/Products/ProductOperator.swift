// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// A product with a kernel: passes add post-operations, and when its weights are packed, it is ready to run.
final class ProductOperator: UnpackedOperator {
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
  /// The kernel's memory in runs; nil until weights are packed.
  private let scratch: TensorSlot?
  /// The weights, if they were packed at preparation.
  private let known: PackedWeights?

  init(
    kernel: any PreparedConvolution, choice: KernelChoice, input: TensorSlot, output: TensorSlot,
    weights: ProductWeights, following: Following? = nil, scratch: TensorSlot? = nil
  ) {
    self.kernel = kernel
    self.choice = choice
    self.input = input
    self.output = output
    self.weights = weights
    self.following = following
    self.scratch = scratch
    known = weights.known
  }

  var facet: Facet { .product(self) }

  var implementation: Implementation {
    Implementation(
      text: kernel.implementation, choice: choice,
      notes: kernel.notes(known) + (following?.operations.notes ?? []))
  }

  var summation: String? { kernel.summation }

  /// The product with post-operations, which write another tensor.
  private func followed(by following: Following, to output: TensorSlot) -> ProductOperator {
    ProductOperator(
      kernel: kernel, choice: choice, input: input, output: output, weights: weights, following: following)
  }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var weights = weights
    try weights.pack(for: kernel, by: packer)
    return ProductOperator(
      kernel: kernel, choice: choice, input: input, output: output, weights: weights, following: following,
      scratch: try packer.scratch(byteCount: kernel.scratchByteCount(threads: packer.threadCount)))
  }

  /// The product followed by a function of each result; nil if its kernel cannot do that.
  func followed(by tail: PostOperation, to output: TensorSlot) -> ProductOperator? {
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
  ) -> ProductOperator? {
    guard following == nil, output.type == .float32, let kernel = kernel.postOperating else { return nil }
    let operations = PostOperations(addingWithin: minimum, maximum, using: set)
    return followed(by: Following(kernel: kernel, operations: operations, other: other), to: output)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard let scratch else { throw ApusError(.internalError, "a product without packed weights was run") }
    if let known { return run(known, tensors, scratch) }
    run(try weights.packed(for: kernel, tensors), tensors, scratch)
  }

  @inline(__always)
  private func run(_ packed: PackedWeights, _ tensors: borrowing TensorTable, _ scratch: TensorSlot) {
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
