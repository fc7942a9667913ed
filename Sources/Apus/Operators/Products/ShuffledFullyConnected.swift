// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `FULLY_CONNECTED` with weights in the format `SHUFFLED4x16INT8`: from bytes around 128 to `int16`, in fixed point.
///
/// Zero points are 128, whatever the tensors say. The second output is scratch memory of the reference; its contents
/// are undefined.
enum ShuffledFullyConnected {
  static func prepare(
    _ node: Node, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot
  ) throws(ApusError) -> any Operator {
    let (units, depth) = (filter.shape[0], filter.shape[1])
    guard input.type == .uint8, filter.type == .uint8, output.type == .int16 else {
      throw node.unsupported(
        "shuffled weights of \(filter.type) with \(input.type) to \(output.type); uint8 to int16 is supported"
      )
    }
    guard units.isMultiple(of: 4), depth.isMultiple(of: 16) else {
      throw node.malformed("shuffled weights of \(filter.shape) are not of blocks of 4×16")
    }
    let rows = input.shape.elementCount / depth
    _ = try node.output(1, shape: [rows, depth], types: [.uint8])
    let factor = ScaleFactor.mixed(
      try node.quantization(of: input).scale, try node.quantization(of: filter).scale,
      over: try node.quantization(of: output).scale)
    let bounds = try node.quantizedBounds(node.activation(node.options.fullyConnected.activation), of: output)
    let convolution = Convolution(
      rows: rows, depth: depth, columns: units, operands: .uint8ToInt16(lhsZeroPoint: 128, rhsZeroPoint: 128),
      epilogue: .fixedPoint(
        [FixedPointMultiplier(factor)], zeroPoint: 0, minimum: bounds.minimum, maximum: bounds.maximum))
    return try ProductDraft(
      convolution, input: input, filter: filter, bias: bias, output: output,
      arrangement: ShuffledFilter(units: units, depth: depth),
      multiplyAccumulates: Double(rows) * Double(filter.shape.elementCount), node: node)
  }
}

/// Restores rows from blocks of four rows and sixteen columns whose bytes have flipped signs.
private struct ShuffledFilter: FilterArrangement {
  let units: Int
  let depth: Int

  var byteCount: Int { units * depth }
  var name: String { "blocks of 4×16" }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    var source = 0
    for firstRow in stride(from: 0, to: units, by: 4) {
      for firstColumn in stride(from: 0, to: depth, by: 16) {
        for row in firstRow..<firstRow + 4 {
          for column in firstColumn..<firstColumn + 16 {
            let byte = unsafe filter.unsafeLoad(fromByteOffset: source, as: UInt8.self)
            arranged.storeBytes(of: byte ^ 0x80, toByteOffset: row * depth + column, as: UInt8.self)
            source += 1
          }
        }
      }
    }
  }
}
