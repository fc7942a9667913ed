// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `EMBEDDING_LOOKUP`: rows of a table by index, copied or dequantized.
///
/// Bytes have one scale, one per row or one per block of a row, and zero points of zero. `uint8` values are
/// read as signed, as in the reference. The reference misplaces rows with an odd number of packed elements; here they
/// are correct.
struct EmbeddingLookup: Operator {
  private let indices: TensorSlot
  private let values: TensorSlot
  private let output: TensorSlot
  private let rows: DequantizedRows
  private let place: String

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let indices = try node.input(0, types: [.int32], rank: 1)
    let values = try node.input(1, ranks: 2...8)
    let shape = TensorShape([indices.shape[0]] + values.shape.dimensions.dropFirst())
    if try node.outputType(0) == values.type {
      let output = try node.output(0, shape: shape, like: values)
      guard shape.elementCount > 0 else { return DataMovement([]) }
      return Gather(rowsOf: values, by: indices, to: output, place: node.place)
    }
    guard [.int8, .uint8, .int4, .int2].contains(values.type) else {
      throw node.unsupported(
        "\(values.type) values with an output of \(try node.outputType(0)) are not supported")
    }
    let output = try node.output(0, shape: shape, types: [.float32, .float16])
    guard shape.elementCount > 0 else { return DataMovement([]) }
    guard values.shape[0] > 0 else { throw node.malformed("\(values.name), \(values.shape), has no rows") }
    let columns = values.shape.elementCount / values.shape[0]
    let (scales, blockSize) = try scales(of: values, columns: columns, node)
    return EmbeddingLookup(
      indices: indices, values: values, output: output,
      rows: DequantizedRows(
        rows: values.shape[0], columns: columns, scales: scales, blockSize: blockSize,
        isHalf: output.type == .float16), place: node.place)
  }

  /// The table's scales, and how many elements of a row share one.
  private static func scales(
    of values: TensorSlot, columns: Int, _ node: Node
  ) throws(ApusError) -> (scales: [Float], blockSize: Int) {
    if let blocks = try node.weightBlocks(1, of: values, types: [.int4, .int2]) {
      return (blocks.scales, blocks.size)
    }
    let parameters = try node.channelQuantization(of: values)
    let count = parameters.scales.count
    guard count == 1 || count == values.shape[0] && parameters.quantizedDimension == 0 else {
      throw node.malformed(
        "\(values.name), \(values.shape), has \(count) scales along axis \(parameters.quantizedDimension)")
    }
    guard parameters.zeroPoints.allSatisfy({ $0 == 0 }) else {
      throw node.unsupported("\(values.name) has a zero point; 0 is supported here")
    }
    return (parameters.scales, columns)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    var result = tensors.writeBytes(output)
    if let index = rows.run(
      tensors.readBytes(values), by: tensors.read(indices), to: &result, threads: tensors.threads)
    {
      throw ApusError(
        .invalidData,
        "\(place): index \(index) in \(indices.name) is outside the rows of \(values.name), \(values.shape)")
    }
  }
}
