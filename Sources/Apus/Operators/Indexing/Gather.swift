// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `GATHER`: slices along an axis, by index; the first axes may be shared by the input and the indices.
///
/// For `int4` the reference copies whole bytes and misplaces rows of odd lengths; here they are correct.
struct Gather: Operator {
  private let input: TensorSlot
  private let indices: TensorSlot
  private let output: TensorSlot
  private let rows: RowGathering
  private let place: String

  private init(
    input: TensorSlot, indices: TensorSlot, output: TensorSlot, rows: RowGathering, place: String
  ) {
    (self.input, self.indices, self.output) = (input, indices, output)
    (self.rows, self.place) = (rows, place)
  }

  /// Rows of `values`, copied by index.
  init(rowsOf values: TensorSlot, by indices: TensorSlot, to output: TensorSlot, place: String) {
    self.init(
      input: values, indices: indices, output: output,
      rows: RowGathering(
        batches: 1, outer: 1, length: values.shape[0], indices: indices.shape[0],
        rowByteCount: values.shape.elementCount(in: 1..<values.shape.rank) * (values.type.byteCount ?? 1),
        indexByteCount: 4), place: place)
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let indices = try node.input(1, types: [.int16, .int32, .int64])
    let axis = try node.axis(node.options.gather.axis, rank: input.shape.rank)
    var batchRank = try node.options.gather.batchRank
    if batchRank < 0 { batchRank += indices.shape.rank }
    guard (0...min(axis, indices.shape.rank)).contains(batchRank),
      input.shape.dimensions.prefix(batchRank) == indices.shape.dimensions.prefix(batchRank)
    else {
      throw node.malformed(
        "\(batchRank) axes are not shared by \(input.shape) and the indices \(indices.shape)")
    }
    var dimensions = input.shape.dimensions
    dimensions.replaceSubrange(axis...axis, with: indices.shape.dimensions[batchRank...])
    let shape = TensorShape(dimensions)
    let output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    return Gather(
      input: input, indices: indices, output: output,
      rows: RowGathering(
        batches: input.shape.elementCount(in: 0..<batchRank),
        outer: input.shape.elementCount(in: batchRank..<axis),
        length: input.shape[axis], indices: indices.shape.elementCount(in: batchRank..<indices.shape.rank),
        rowByteCount: input.shape.elementCount(in: (axis + 1)..<input.shape.rank)
          * (input.type.byteCount ?? 1),
        indexByteCount: indices.type.byteCount ?? 4), place: node.place)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    var result = tensors.writeBytes(output)
    if let index = rows.run(
      tensors.readBytes(input), by: tensors.readBytes(indices), to: &result, threads: tensors.threads)
    {
      throw ApusError(
        .invalidData,
        "\(place): index \(index) in \(indices.name) is outside the axis of \(input.name), \(input.shape)")
    }
  }
}
