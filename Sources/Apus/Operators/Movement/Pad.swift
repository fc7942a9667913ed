// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `PAD` and `PADV2`: pads each axis with zero, the zero point, or a given value.
enum Pad {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...3)
    let input = try node.input(0, ranks: 0...5)
    let paddings = try node.input(1, types: [.int32, .int64, .int8, .int16, .bool], rank: 2)
    let value = try node.optionalInput(2, types: [input.type])
    if let value, value.shape.elementCount != 1 {
      throw node.malformed("the value \(value.name) has \(value.shape.elementCount) elements, not 1")
    }
    let amounts = try amounts(of: paddings, node)
    guard paddings.shape[1] == 2, paddings.shape[0] == input.shape.rank else {
      throw node.malformed("the paddings \(paddings.name) are \(paddings.shape) for \(input.shape)")
    }
    var dimensions: [Int] = []
    for (axis, size) in input.shape.dimensions.enumerated() {
      let (before, after) = (amounts[2 * axis], amounts[2 * axis + 1])
      guard (0...Int(Int32.max)).contains(before), (0...Int(Int32.max)).contains(after) else {
        throw node.malformed("the paddings of axis \(axis) are \(before) and \(after)")
      }
      dimensions.append(size + before + after)
    }
    let shape = TensorShape(dimensions)
    if shape == input.shape { return try node.view(0, of: input, shape: shape) }
    let output = try node.output(0, shape: shape, like: input)
    // LiteRT decides by the input whether zero is the zero point.
    let isQuantized =
      input.type == .uint8
      || [.int8, .int16, .int4].contains(input.type) && input.quantization?.scales.isEmpty == false
    let zeroPoint = Int64(output.quantization?.zeroPoint ?? 0)
    var filling = DataMovement.Filling.value(isQuantized ? zeroPoint : 0)
    if let value {
      filling = .element(value)
      if isQuantized, output.quantization?.scales.isEmpty == false {
        try node.expectSameQuantization(value, output)
      }
    }
    let operation = try operation(input, output, amounts, filling, node)
    // An operator that absorbs this one pads with the zero point.
    guard value == nil, isQuantized || zeroPoint == 0 || !output.type.isQuantizable else { return operation }
    return PaddingOperator(
      operation: operation, described: Padding(input: input, output: output, amounts: amounts))
  }

  private static func operation(
    _ input: TensorSlot, _ output: TensorSlot, _ amounts: [Int], _ filling: DataMovement.Filling, _ node: Node
  ) throws(ApusError) -> any Operator {
    guard input.shape.elementCount > 0 else { return DataMovement(filling: (output, filling), []) }
    let shape = output.shape
    let strides = shape.strides
    let offset = input.shape.dimensions.indices.reduce(0) { $0 + amounts[2 * $1] * strides[$1] }
    if let rows = rows(input, amounts, filling) {
      return UnaryOperator(rows, choice: .plain, input: input, output: output)
    }
    var rim: [StridedCopy] = []
    if case .value = filling {
      let befores = input.shape.dimensions.indices.map { amounts[2 * $0] }
      rim = try node.rim(output, around: input.shape.dimensions, at: befores)
    }
    return DataMovement(
      filling: (output, filling), rim: rim,
      [
        try node.move(
          input.shape.dimensions, from: input, strides: input.shape.strides, to: output, strides: strides,
          at: offset)
      ])
  }

  /// The kernel for 32-bit elements if only rows are padded.
  private static func rows(
    _ input: TensorSlot, _ amounts: [Int], _ filling: DataMovement.Filling
  ) -> RowPadding? {
    guard case .value(let value) = filling, input.type.byteCount == 4,
      amounts.dropLast(2).allSatisfy({ $0 == 0 }), let count = input.shape.dimensions.last
    else { return nil }
    return RowPadding(
      rows: input.shape.elementCount / count, count: count, before: amounts[amounts.count - 2],
      after: amounts[amounts.count - 1], value: UInt32(truncatingIfNeeded: value))
  }

  private static func amounts(of paddings: TensorSlot, _ node: Node) throws(ApusError) -> [Int] {
    switch paddings.type {
    case .int8: try node.values(of: paddings, as: Int8.self).map(Int.init)
    case .int16: try node.values(of: paddings, as: Int16.self).map(Int.init)
    case .bool: try node.values(of: paddings, as: UInt8.self).map { $0 == 0 ? 0 : 1 }
    default: try node.integers(of: paddings)
    }
  }
}

/// A PAD with zeros, or with the zero point, which its reader can absorb.
private struct PaddingOperator: Operator {
  let operation: any Operator
  let described: Padding

  var facet: Facet { .padding(described) }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) { try operation.invoke(tensors) }
}
