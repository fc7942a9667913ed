// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// The weights of one kernel: packed once if the tensors are constant, otherwise in each run.
struct ProductWeights {
  private enum State {
    /// Not packed yet.
    case unpacked
    /// Packed once.
    case packed(PackedWeights)
    /// Packed in each run into this memory, after being arranged in another.
    case packedInRuns(PackedWeights, arranged: TensorSlot?)
  }

  private let filter: TensorSlot
  private let bias: TensorSlot?
  private let arrangement: (any FilterArrangement)?
  private let biasCopies: Int
  private var state = State.unpacked

  /// Names the tensors that are packed.
  ///
  /// - Parameter biasCopies: how often the bias is repeated; more than once only where it and the filter are constant.
  init(
    filter: TensorSlot, bias: TensorSlot?, arrangement: (any FilterArrangement)? = nil, biasCopies: Int = 1
  ) {
    self.filter = filter
    self.bias = bias
    self.arrangement = arrangement
    self.biasCopies = biasCopies
  }

  /// The weights that were packed once.
  var known: PackedWeights? {
    guard case .packed(let weights) = state else { return nil }
    return weights
  }

  /// Packs constant weights, or reserves memory for those of runs.
  mutating func pack(for kernel: any PreparedConvolution, by packer: WeightPacker) throws(ApusError) {
    let layout = arrangement.map { kernel.packing.of($0.name) } ?? kernel.packing
    let (weights, arePacked) = try packer.weights(
      of: [filter] + (bias.map { [$0] } ?? []), layout: layout, most: kernel.packedByteCount,
      measuring: arrangement == nil ? (kernel, filter) : nil, copiedByteCount: arrangement?.byteCount ?? 0
    ) { [self] lease, weights throws(ApusError) in
      try pack(try lease.bytes(of: filter), lease, into: weights, kernel)
    }
    guard !arePacked else {
      state = .packed(weights)
      return
    }
    let arranged = try arrangement.map { form throws(ApusError) in
      try packer.scratch(byteCount: form.byteCount)
    }
    state = .packedInRuns(weights, arranged: arranged)
  }

  private func pack(
    _ filter: RawSpan, _ lease: ConstantLease, into weights: PackedWeights, _ kernel: any PreparedConvolution
  ) throws(ApusError) {
    if let arrangement {
      let form = try TensorMemory(byteCount: arrangement.byteCount)
      form.withMutableBytes { arrangement.arrange(filter, into: &$0) }
      defer { withExtendedLifetime(form) {} }
      return try packArranged(form.bytes, lease, into: weights, kernel)
    }
    try packArranged(filter, lease, into: weights, kernel)
  }

  private func packArranged(
    _ filter: RawSpan, _ lease: ConstantLease, into weights: PackedWeights, _ kernel: any PreparedConvolution
  ) throws(ApusError) {
    guard let bias else { return kernel.pack(weights: filter, bias: nil, into: weights) }
    let values = try lease.bytes(of: bias)
    guard biasCopies > 1 else { return kernel.pack(weights: filter, bias: values, into: weights) }
    let copies = try TensorMemory(byteCount: values.byteCount * biasCopies)
    copies.withMutableBytes {
      ElementRuns.copy(
        from: values, at: 0, step: 0, to: &$0, at: 0, step: values.byteCount, byteCount: values.byteCount,
        count: biasCopies)
    }
    kernel.pack(weights: filter, bias: copies.bytes, into: weights)
    withExtendedLifetime(copies) {}
  }

  /// The packed weights; packed anew if they may have changed since the last run.
  func packed(for kernel: any PreparedConvolution, _ tensors: borrowing TensorTable) throws(ApusError)
    -> PackedWeights
  {
    switch state {
    case .packed(let weights): return weights
    case .packedInRuns(let weights, nil):
      pack(tensors.readBytes(filter), tensors, into: weights, kernel)
      return weights
    case .packedInRuns(let weights, let arranged?):
      var bytes = tensors.writeBytes(arranged)
      arrangement?.arrange(tensors.readBytes(filter), into: &bytes)
      pack(bytes.bytes, tensors, into: weights, kernel)
      return weights
    case .unpacked: throw ApusError(.internalError, "the weights \(filter.name) were not packed")
    }
  }

  private func pack(
    _ filter: RawSpan, _ tensors: borrowing TensorTable, into weights: PackedWeights,
    _ kernel: any PreparedConvolution
  ) {
    if let bias {
      kernel.pack(weights: filter, bias: tensors.readBytes(bias), into: weights)
    } else {
      kernel.pack(weights: filter, bias: nil, into: weights)
    }
  }
}
