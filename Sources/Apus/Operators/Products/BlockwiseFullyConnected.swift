// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `FULLY_CONNECTED` on floats, with `int4` weights that have a scale for each block of a row.
///
/// Rows of the input are quantized to bytes at run time, with a zero point. The fused activation is applied; the
/// reference omits it.
struct BlockwiseFullyConnected: Operator {
  private let product: BlockwiseProduct
  private let input: TensorSlot
  private let filter: TensorSlot
  private let bias: TensorSlot?
  private let output: TensorSlot
  private let scratch: TensorSlot

  init(
    _ node: Node, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot,
    blocks: WeightBlocks
  ) throws(ApusError) {
    let (units, depth) = (filter.shape[0], filter.shape[1])
    let bounds =
      try node.activation(node.options.fullyConnected.activation).openBounds ?? (-.infinity, .infinity)
    product = BlockwiseProduct(
      rows: input.shape.elementCount / depth, depth: depth, units: units, blockSize: blocks.size,
      scales: blocks.scales, minimum: bounds.minimum, maximum: bounds.maximum)
    self.input = input
    self.filter = filter
    self.bias = bias
    self.output = output
    scratch = try node.scratch(byteCount: product.scratchByteCount)
    try node.declare(multiplyAccumulates: Double(input.shape.elementCount) * Double(units))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var memory = tensors.writeBytes(scratch)
    if let bias {
      product.run(
        tensors.readBytes(input), weights: tensors.readBytes(filter), bias: tensors.readBytes(bias),
        to: &result,
        scratch: &memory, threads: tensors.threads)
    } else {
      product.run(
        tensors.readBytes(input), weights: tensors.readBytes(filter), bias: nil, to: &result,
        scratch: &memory,
        threads: tensors.threads)
    }
  }
}

extension Node {
  /// The blocks of a matrix of one of `types`; nil if its quantization is not blockwise.
  func weightBlocks(
    _ position: Int, of filter: TensorSlot, types: [ElementType] = [.int4]
  ) throws(ApusError) -> WeightBlocks? {
    guard let blocks = subgraph.tensors[entry.inputs[position]].quantization?.blockwise else {
      return nil
    }
    guard types.contains(filter.type), filter.shape.rank == 2 else {
      throw unsupported(
        "\(filter.name) is \(filter.type) of \(filter.shape) with a scale for each block, "
          + "not a matrix of \(types.map(\.rawValue).joined(separator: ", "))")
    }
    let (size, depth) = (blocks.blockSize, filter.shape[1])
    guard size > 0, depth.isMultiple(of: size) else {
      throw malformed("\(filter.name), \(filter.shape), is not of blocks of \(size)")
    }
    let slot = try preparation.inputSlot(blocks.scales, of: self)
    guard slot.type == .float16, slot.shape.elementCount == filter.shape[0] * (depth / size) else {
      throw malformed(
        "\(slot.name) is \(slot.type) of \(slot.shape), not a float16 for each block of \(size) of \(filter.shape)"
      )
    }
    return WeightBlocks(
      size: size, scales: try values(of: slot, as: UInt16.self).map { Float(halfBits: $0) })
  }
}
