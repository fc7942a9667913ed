import ApusKernels

/// A prepared kernel with its weights: what CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED have in common.
struct WeightedProduct: Operator {
  private let kernel: any PreparedConvolution
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot
  private let weights: ProductWeights
  /// What is done to the outputs, with which other tensor, and the kernel as one that can do it.
  private var finish: (kernel: any FinishingConvolution, finish: FloatFinish, other: TensorSlot?)?

  /// Packs the weights where they are constant, and asks for the memory that a run needs.
  ///
  /// - Parameter biasCopies: how often the bias is repeated; more than once only where it and the filter are constant.
  init(
    _ kernel: (any PreparedConvolution)?, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?,
    output: TensorSlot, arrangement: (any FilterArrangement)? = nil, biasCopies: Int = 1,
    multiplyAccumulates: Double, node: Node
  ) throws(ApusError) {
    guard let kernel else {
      throw node.unsupported("\(input.type) with a filter of \(filter.type) has no kernel")
    }
    try node.declare(multiplyAccumulates: multiplyAccumulates)
    self.kernel = kernel
    self.input = input
    self.output = output
    scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    weights = try ProductWeights(
      kernel, filter: filter, bias: bias, arrangement: arrangement, biasCopies: biasCopies, node: node)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    weights.packIfNeeded(kernel, tensors)
    var result = tensors.writeBytes(output)
    var scratch = tensors.writeBytes(scratch)
    if let (kernel, finish, other) = finish {
      if let other {
        kernel.run(
          weights.packed, input: tensors.readBytes(input), other: tensors.readBytes(other), finish: finish,
          output: &result, scratch: &scratch, threads: tensors.threads)
      } else {
        kernel.run(
          weights.packed, input: tensors.readBytes(input), other: nil, finish: finish, output: &result,
          scratch: &scratch, threads: tensors.threads)
      }
      return
    }
    kernel.run(
      weights.packed, input: tensors.readBytes(input), output: &result, scratch: &scratch,
      threads: tensors.threads)
  }
}

extension WeightedProduct {
  func followed(by tail: FloatTail) -> (any Operator)? {
    var copy = self
    if let finish {
      guard let longer = finish.finish.followed(by: tail) else { return nil }
      copy.finish?.finish = longer
    } else {
      guard let kernel = kernel.finishing else { return nil }
      copy.finish = (kernel, FloatFinish(tail: tail), nil)
    }
    return copy
  }

  func adding(_ other: TensorSlot, within minimum: Float, _ maximum: Float, using set: KernelSet)
    -> (any Operator)?
  {
    guard finish == nil, let kernel = kernel.finishing else { return nil }
    var copy = self
    copy.finish = (kernel, FloatFinish(addingWithin: minimum, maximum, using: set), other)
    return copy
  }
}

/// The packed weights of one kernel: packed once where the tensors are constant, in each run otherwise.
struct ProductWeights {
  /// The weights in the kernel's layout.
  let packed: PackedWeights
  private let filter: TensorSlot
  private let bias: TensorSlot?
  private let arrangement: (any FilterArrangement)?
  /// Memory for the arranged filter of each run.
  private let arranged: TensorSlot?

  init(
    _ kernel: any PreparedConvolution, filter: TensorSlot, bias: TensorSlot?,
    arrangement: (any FilterArrangement)? = nil, biasCopies: Int = 1, node: Node
  ) throws(ApusError) {
    self.filter = filter
    self.bias = bias
    self.arrangement = arrangement
    let layout = arrangement.map { kernel.packing.of($0.name) } ?? kernel.packing
    let (weights, arePacked) = try node.packedWeights(
      of: [filter] + (bias.map { [$0] } ?? []), layout: layout, most: kernel.packedByteCount,
      measuring: arrangement == nil ? (kernel, filter) : nil
    ) { tensors, weights in
      guard let arrangement else {
        Self.pack(kernel, tensors.readBytes(filter), bias, tensors, into: weights)
        return
      }
      TensorMemory(byteCount: arrangement.byteCount).withMutableBytes { bytes in
        arrangement.arrange(tensors.readBytes(filter), into: &bytes)
        guard biasCopies > 1, let bias else {
          Self.pack(kernel, bytes.bytes, bias, tensors, into: weights)
          return
        }
        let filter = bytes.bytes
        let values = tensors.readBytes(bias)
        TensorMemory(byteCount: values.byteCount * biasCopies).withMutableBytes { copies in
          ElementRuns.copy(
            from: values, at: 0, step: 0, to: &copies, at: 0, step: values.byteCount,
            byteCount: values.byteCount, count: biasCopies)
          kernel.pack(weights: filter, bias: copies.bytes, into: weights)
        }
      }
    }
    packed = weights
    needsPacking = !arePacked
    if arePacked { node.discardPacked(filter) }
    arranged =
      try arePacked
      ? nil : arrangement.map { form throws(ApusError) in try node.scratch(byteCount: form.byteCount) }
  }

  private let needsPacking: Bool

  private static func pack(
    _ kernel: any PreparedConvolution, _ filter: RawSpan, _ bias: TensorSlot?,
    _ tensors: borrowing TensorTable,
    into weights: PackedWeights
  ) {
    if let bias {
      kernel.pack(weights: filter, bias: tensors.readBytes(bias), into: weights)
    } else {
      kernel.pack(weights: filter, bias: nil, into: weights)
    }
  }

  /// Packs weights that may have changed since the last run.
  func packIfNeeded(_ kernel: any PreparedConvolution, _ tensors: borrowing TensorTable) {
    guard needsPacking else { return }
    guard let arrangement, let arranged else {
      Self.pack(kernel, tensors.readBytes(filter), bias, tensors, into: packed)
      return
    }
    var bytes = tensors.writeBytes(arranged)
    arrangement.arrange(tensors.readBytes(filter), into: &bytes)
    Self.pack(kernel, bytes.bytes, bias, tensors, into: packed)
  }
}
