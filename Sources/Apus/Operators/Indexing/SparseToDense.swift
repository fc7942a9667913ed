// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SPARSE_TO_DENSE`: one value everywhere except at the positions that rows of coordinates name.
struct SparseToDense: Operator {
  private let indices: TensorSlot
  private let values: TensorSlot
  private let other: TensorSlot
  private let output: TensorSlot
  private let rows: CoordinateRows
  private let place: String

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 4...4)
    let indices = try node.input(0, types: [.int32, .int64], ranks: 0...2)
    let shape = TensorShape(try node.integers(of: node.input(1, types: [.int32, .int64], rank: 1)))
    let values = try node.input(2, types: [.float32, .int32, .int64, .int8, .uint8], ranks: 0...1)
    let other = try node.input(3, types: [values.type])
    let depth = indices.shape.rank == 2 ? indices.shape[1] : 1
    let count = indices.shape.rank == 0 ? 1 : indices.shape[0]
    guard depth == shape.rank, depth <= 4, values.shape.rank == 0 || values.shape[0] == count,
      other.shape.elementCount == 1
    else {
      throw node.malformed("indices \(indices.shape) with values \(values.shape) do not fit \(shape)")
    }
    let output = try node.output(0, shape: shape, like: values)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    try node.check(plainWork: Double(count))
    let width = values.type.byteCount ?? 1
    return SparseToDense(
      indices: indices, values: values, other: other, output: output,
      rows: CoordinateRows(
        count: count, sizes: shape.dimensions, strides: shape.strides.map { $0 * width },
        sliceByteCount: width,
        indexByteCount: indices.type.byteCount ?? 4), place: node.place)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    var result = tensors.writeBytes(output)
    fillElements(
      &result, with: tensors.readBytes(other).extracting(first: other.type.byteCount ?? 1),
      threads: tensors.threads)
    let isOne = values.shape.rank == 0
    if let row = rows.put(
      tensors.readBytes(values), by: tensors.readBytes(indices), isOne: isOne, in: &result,
      threads: tensors.threads)
    {
      throw ApusError(
        .invalidData, "\(place): row \(row) of \(indices.name) names a place outside \(output.shape)")
    }
  }
}
