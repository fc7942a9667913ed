// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// A description of a product of an input with a filter, for CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED.
///
/// Passes may still change what it reads. Then it gets a kernel, and finally its weights are packed.
final class ProductDraft: Operator {
  /// The product that is computed.
  let convolution: Convolution
  let input: TensorSlot
  let filter: TensorSlot
  let bias: TensorSlot?
  let output: TensorSlot
  let arrangement: (any FilterArrangement)?
  /// How often the bias is repeated; more than once only if it and the filter are constant.
  let biasCopies: Int
  /// Whether the input is a picture, whose rows and columns may be padded.
  let readsPicture: Bool

  /// Describes a product with this many multiply-accumulates.
  init(
    _ convolution: Convolution, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot,
    arrangement: (any FilterArrangement)? = nil, biasCopies: Int = 1, readsPicture: Bool = false,
    multiplyAccumulates: Double, node: Node
  ) throws(ApusError) {
    self.readsPicture = readsPicture
    self.convolution = convolution
    self.input = input
    self.filter = filter
    self.bias = bias
    self.output = output
    self.arrangement = arrangement
    self.biasCopies = biasCopies
    try node.declare(multiplyAccumulates: multiplyAccumulates)
  }

  /// A copy with the padding of its input absorbed.
  private init(_ other: ProductDraft, _ convolution: Convolution, input: TensorSlot) {
    readsPicture = other.readsPicture
    self.convolution = convolution
    self.input = input
    filter = other.filter
    bias = other.bias
    output = other.output
    arrangement = other.arrangement
    biasCopies = other.biasCopies
  }

  var facet: Facet { .draft(self) }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    throw ApusError(.internalError, "a product without a kernel was run")
  }

  /// The product with a kernel.
  func product(for node: Node) throws(ApusError) -> ProductOperator {
    let (kernel, choice) = try node.kernel(for: convolution, input, filter)
    return ProductOperator(
      kernel: kernel, choice: choice, input: input, output: output,
      weights: ProductWeights(filter: filter, bias: bias, arrangement: arrangement, biasCopies: biasCopies))
  }

  /// The input that it can pad itself.
  var paddableInput: TensorSlot? {
    // Hybrid kernels find the extremes of their input, padding included.
    readsPicture && input.type == filter.type ? input : nil
  }

  /// The product with the padding of its input absorbed.
  func absorbing(_ padding: Padding) -> ProductDraft {
    let padded = convolution.reading(
      height: padding.input.shape[1], width: padding.input.shape[2],
      paddedBy: (top: padding.amounts[2], left: padding.amounts[4]))
    // The absorbed input has the quantization of the original one.
    let input = TensorSlot(
      index: padding.input.index, entry: input.entry, type: input.type, shape: padding.input.shape,
      isConstant: false)
    return ProductDraft(self, padded, input: input)
  }
}
