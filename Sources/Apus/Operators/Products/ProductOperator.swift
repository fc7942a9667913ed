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

  var implementation: Implementation {
    Implementation(
      text: kernel.implementation, choice: choice,
      notes: kernel.notes(weights.known) + (following?.operations.notes ?? []))
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
    let scratch = try packer.scratch(byteCount: kernel.scratchByteCount(threads: packer.threadCount))
    let product = ProductOperator(
      kernel: kernel, choice: choice, input: input, output: output, weights: weights, following: following)
    guard let packed = weights.known else { return RepackedProduct(product, scratch: scratch) }
    guard let following else { return PackedProduct(product, packed, scratch: scratch) }
    return FollowedProduct(product, packed, following, scratch: scratch)
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
    throw ApusError(.internalError, "a product without packed weights was run")
  }

  /// Runs the product with its post-operations.
  fileprivate func run(_ packed: PackedWeights, _ tensors: borrowing TensorTable, _ scratch: TensorSlot) {
    guard let following else {
      var result = tensors.writeBytes(output)
      var scratch = tensors.writeBytes(scratch)
      return kernel.run(
        packed, input: tensors.readBytes(input), output: &result, scratch: &scratch, threads: tensors.threads)
    }
    run(packed, following, tensors, scratch)
  }

  @inline(__always)
  fileprivate func run(
    _ packed: PackedWeights, _ following: Following, _ tensors: borrowing TensorTable, _ scratch: TensorSlot
  ) {
    var result = tensors.writeBytes(output)
    var scratch = tensors.writeBytes(scratch)
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

// The ways of running a product are three classes without optional properties: those are read without counting references, which would
// take as long as a few hundred multiplications.

/// A product whose weights were packed at preparation.
private final class PackedProduct: Operator {
  private let product: ProductOperator
  private let kernel: any PreparedConvolution
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot
  private let packed: PackedWeights

  init(_ product: ProductOperator, _ packed: PackedWeights, scratch: TensorSlot) {
    self.product = product
    kernel = product.kernel
    input = product.input
    output = product.output
    self.scratch = scratch
    self.packed = packed
  }

  var facet: Facet { product.facet }
  var implementation: Implementation { product.implementation }
  var summation: String? { product.summation }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var scratch = tensors.writeBytes(scratch)
    kernel.run(
      packed, input: tensors.readBytes(input), output: &result, scratch: &scratch, threads: tensors.threads)
  }
}

/// A product with post-operations whose weights were packed at preparation.
private final class FollowedProduct: Operator {
  private let product: ProductOperator
  private let following: ProductOperator.Following
  private let scratch: TensorSlot
  private let packed: PackedWeights

  init(
    _ product: ProductOperator, _ packed: PackedWeights, _ following: ProductOperator.Following,
    scratch: TensorSlot
  ) {
    self.product = product
    self.following = following
    self.scratch = scratch
    self.packed = packed
  }

  var facet: Facet { product.facet }
  var implementation: Implementation { product.implementation }
  var summation: String? { product.summation }

  func invoke(_ tensors: borrowing TensorTable) { product.run(packed, following, tensors, scratch) }
}

/// A product whose weights are packed in each run.
private final class RepackedProduct: Operator {
  private let product: ProductOperator
  private let scratch: TensorSlot

  init(_ product: ProductOperator, scratch: TensorSlot) {
    self.product = product
    self.scratch = scratch
  }

  var facet: Facet { product.facet }
  var implementation: Implementation { product.implementation }
  var summation: String? { product.summation }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    product.run(try product.weights.packed(for: product.kernel, tensors), tensors, scratch)
  }
}
