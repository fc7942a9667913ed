// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `TOPK_V2`: the largest values of each row and their positions; equal values in order.
struct TopK: Operator {
  private let input: TensorSlot
  private let values: TensorSlot
  private let places: TensorSlot
  private let heap: TensorSlot
  private let selection: Selection

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2, outputs: 2...2)
    let input = try node.input(0, types: [.float32, .uint8, .int8, .int16, .int32, .int64], ranks: 1...8)
    let number = try node.input(1, types: [.int32, .int16])
    guard number.shape.elementCount == 1 else {
      throw node.malformed("\(number.name) has \(number.shape.elementCount) values, not 1")
    }
    let wanted =
      number.type == .int16
      ? try node.values(of: number, as: Int16.self).map(Int.init)[0] : try node.integer(of: number)
    let length = input.shape[input.shape.rank - 1]
    guard wanted <= length, length <= Int(Int32.max) else {
      throw node.malformed("\(wanted) values are more than the \(length) of a row of \(input.name)")
    }
    let count = max(wanted, 0)
    let shape = TensorShape(input.shape.dimensions.dropLast() + [count])
    let values = try node.output(0, shape: shape, like: input)
    let places = try node.output(1, shape: shape, types: [.int32, .int16])
    guard places.type == .int32 || length <= Int(Int16.max) else {
      throw node.malformed("places in rows of \(length) do not fit int16")
    }
    guard shape.elementCount > 0 else { return DataMovement([]) }
    let rows = shape.elementCount / count
    try node.check(
      plainWork: Double(rows) * Double(length) * Double(Int.bitWidth - count.leadingZeroBitCount))
    return TopK(
      input: input, values: values, places: places, heap: try node.scratch(count: count, width: 4),
      selection: Selection(
        input.type.scalarType(in: .reducible) ?? .float32, rows: rows, length: length,
        count: count,
        placeByteCount: places.type == .int32 ? 4 : 2))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var found = tensors.writeBytes(values)
    var positions = tensors.writeBytes(places)
    var memory = tensors.writeBytes(heap)
    selection.run(
      tensors.readBytes(input), values: &found, places: &positions, heap: &memory,
      threads: tensors.threads)
  }
}
