// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `GATHER_ND`: slices of a tensor, each named by a row of coordinates. `SCATTER_ND`: slices added into
/// zeros.
struct GatherND: Operator {
  private let slices: TensorSlot
  private let indices: TensorSlot
  private let output: TensorSlot
  private let rows: CoordinateRows
  /// How slices are added; nil if they are gathered.
  private let addition: ScalarType?
  private let place: String

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let indices = try node.input(1, types: [.int16, .int32, .int64])
    let (rows, _) = try rows(node, indices, over: input.shape, type: input.type)
    let shape = TensorShape(
      indices.shape.dimensions.dropLast() + input.shape.dimensions[rows.strides.count...])
    let output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    return GatherND(
      slices: input, indices: indices, output: output, rows: rows, addition: nil, place: node.place)
  }

  static func prepareScatter(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let indices = try node.input(0, types: [.int32])
    let updates = try node.input(1, types: [.float32, .int8, .uint8, .int32, .int64, .bool])
    let shape = TensorShape(try node.integers(of: node.input(2, types: [.int32], rank: 1)))
    let output = try node.output(0, shape: shape, like: updates)
    let (rows, depth) = try rows(node, indices, over: shape, type: updates.type)
    let expected = indices.shape.dimensions.dropLast() + shape.dimensions[depth...]
    guard updates.shape.dimensions == Array(expected) else {
      throw node.malformed("the updates are \(updates.shape), not \(TensorShape(Array(expected)))")
    }
    guard shape.elementCount > 0 else { return DataMovement([]) }
    return GatherND(
      slices: updates, indices: indices, output: output, rows: rows,
      addition: updates.type.scalarType(in: .reducible) ?? .uint8, place: node.place)
  }

  private static func rows(
    _ node: Node, _ indices: TensorSlot, over shape: TensorShape, type: ElementType
  ) throws(ApusError) -> (CoordinateRows, depth: Int) {
    guard let depth = indices.shape.dimensions.last, depth <= shape.rank else {
      throw node.malformed("rows of the indices \(indices.shape) do not name a place in \(shape)")
    }
    let width = type.byteCount ?? 1
    let rows = CoordinateRows(
      count: indices.shape.elementCount(in: 0..<(indices.shape.rank - 1)),
      sizes: Array(shape.dimensions[..<depth]), strides: shape.strides[..<depth].map { $0 &* width },
      sliceByteCount: shape.elementCount(in: depth..<shape.rank) &* width,
      indexByteCount: indices.type.byteCount ?? 4)
    return (rows, depth)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    var result = tensors.writeBytes(output)
    let row: Int?
    if let addition {
      row = rows.scatter(
        tensors.readBytes(slices), by: tensors.readBytes(indices), adding: addition, to: &result,
        threads: tensors.threads)
    } else {
      row = rows.gather(
        tensors.readBytes(slices), by: tensors.readBytes(indices), to: &result, threads: tensors.threads)
    }
    if let row {
      throw ApusError(
        .invalidData, "\(place): row \(row) of \(indices.name) names a place outside the tensor")
    }
  }
}
