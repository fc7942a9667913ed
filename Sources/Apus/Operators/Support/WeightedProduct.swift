import ApusKernels

/// A prepared kernel with its weights: what CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED have in common.
struct WeightedProduct: Operator {
  private let kernel: any PreparedConvolution
  private let input: TensorSlot
  private let filter: TensorSlot
  private let bias: TensorSlot?
  private let output: TensorSlot
  private let scratch: TensorSlot
  private let weights: PackedWeights
  private let arePacked: Bool

  /// Packs the weights where they are constant, and asks for the memory that a run needs.
  init(
    _ kernel: (any PreparedConvolution)?, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?,
    output: TensorSlot, multiplyAccumulates: Double, node: Node
  ) throws(ApusError) {
    guard let kernel else {
      throw node.unsupported("\(input.type) with a filter of \(filter.type) has no kernel")
    }
    node.declare(multiplyAccumulates: multiplyAccumulates)
    self.kernel = kernel
    self.input = input
    self.filter = filter
    self.bias = bias
    self.output = output
    scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    (weights, arePacked) = try node.packedWeights(
      of: [filter] + (bias.map { [$0] } ?? []), layout: kernel.packing, most: kernel.packedByteCount,
      byteCount: { tensors in kernel.packedByteCount(for: tensors.readBytes(filter)) }
    ) { tensors, weights in
      Self.pack(kernel, filter: filter, bias: bias, tensors: tensors, into: weights)
    }
  }

  private static func pack(
    _ kernel: any PreparedConvolution, filter: TensorSlot, bias: TensorSlot?, tensors: borrowing TensorTable,
    into weights: PackedWeights
  ) {
    if let bias {
      kernel.pack(weights: tensors.readBytes(filter), bias: tensors.readBytes(bias), into: weights)
    } else {
      kernel.pack(weights: tensors.readBytes(filter), bias: nil, into: weights)
    }
  }

  func invoke(_ tensors: borrowing TensorTable) {
    if !arePacked { Self.pack(kernel, filter: filter, bias: bias, tensors: tensors, into: weights) }
    var result = tensors.writeBytes(output)
    var scratch = tensors.writeBytes(scratch)
    kernel.run(
      weights, input: tensors.readBytes(input), output: &result, scratch: &scratch, threads: tensors.threads)
  }
}
