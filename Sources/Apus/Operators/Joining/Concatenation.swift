// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `CONCATENATION`: tensors one after the other along an axis.
///
/// The reference rescales `uint8` operands whose quantization differs from the output's, in single precision.
final class Concatenation: Operator {
  /// An operand whose bytes are mapped through a table.
  private struct Rescaling {
    let source: TensorSlot
    let table: [UInt8]
    let rows: Int
    let rowByteCount: Int
    let offset: Int
    let stride: Int
  }

  private let output: TensorSlot
  private let plain: DataMovement
  private let rescaled: [Rescaling]

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...(1 << 16))
    let first = try node.input(0)
    let rank = first.shape.rank
    let number = try node.options.concatenation.axis
    guard try node.options.concatenation.activation == 0 else {
      throw node.unsupported("a fused activation is not supported")
    }
    if rank == 0 { return try joinScalars(first, node: node) }
    let axis = try node.axis(number, rank: rank)
    var inputs: [TensorSlot] = []
    var length = 0
    for position in 0..<node.inputCount {
      let input = try node.input(position, types: [first.type], rank: rank)
      guard
        zip(input.shape.dimensions, first.shape.dimensions).enumerated().allSatisfy({
          $0 == axis || $1.0 == $1.1
        })
      else { throw node.malformed("\(input.shape) and \(first.shape) differ in other axes than \(axis)") }
      let (sum, overflow) = length.addingReportingOverflow(input.shape[axis])
      guard !overflow else { throw node.malformed("axis \(axis) has too many elements") }
      length = sum
      inputs.append(input)
    }
    var dimensions = first.shape.dimensions
    dimensions[axis] = length
    let output = try node.output(0, shape: TensorShape(dimensions), like: first)
    let concatenation = try Concatenation(inputs, output: output, axis: axis, node: node)
    return concatenation.rescaled.isEmpty ? concatenation.plain : concatenation
  }

  /// Joins constant scalars into a vector.
  private static func joinScalars(_ first: TensorSlot, node: Node) throws(ApusError) -> any Operator {
    let output = try node.output(0, shape: [node.inputCount], like: first)
    var steps: [DataMovement.Step] = []
    for position in 0..<node.inputCount {
      let input = try node.input(position, types: [first.type], rank: 0)
      steps.append(try node.move([1], from: input, strides: [1], to: output, strides: [1], at: position))
    }
    return DataMovement(steps)
  }

  private init(_ inputs: [TensorSlot], output: TensorSlot, axis: Int, node: Node) throws(ApusError) {
    self.output = output
    let strides = output.shape.strides
    var steps: [DataMovement.Step] = []
    var rescaled: [Rescaling] = []
    var offset = 0
    for input in inputs {
      if input.shape.elementCount > 0 {
        if output.type == .uint8, let table = try Self.table(input, output, node: node) {
          try node.keepCopies(1)
          let rows = input.shape.elementCount(in: 0..<axis)
          rescaled.append(
            Rescaling(
              source: input, table: table, rows: rows, rowByteCount: input.shape.elementCount / rows,
              offset: offset,
              stride: output.shape.elementCount / rows))
        } else {
          steps.append(
            try node.move(
              input.shape.dimensions, from: input, strides: input.shape.strides, to: output, strides: strides,
              at: offset))
        }
      }
      if output.type == .int8 { try node.expectSameQuantization(input, output) }
      // Wraps only where the output has no elements.
      offset &+= input.shape[axis] &* strides[axis]
    }
    plain = DataMovement(steps)
    self.rescaled = rescaled
  }

  /// The new value of each byte; nil if none changes.
  private static func table(
    _ input: TensorSlot, _ output: TensorSlot, node: Node
  ) throws(ApusError) -> [UInt8]? {
    guard input.quantization?.scales.isEmpty == false, output.quantization?.scales.isEmpty == false else {
      return nil
    }
    let (inputScale, inputZeroPoint) = try node.quantization(of: input)
    let (outputScale, outputZeroPoint) = try node.quantization(of: output)
    if inputScale == outputScale, inputZeroPoint == outputZeroPoint { return nil }
    let scale = inputScale * (1 / outputScale)
    let bias = Float(-inputZeroPoint) * scale
    return (0...255).map { byte in
      let value = (Float(byte) * scale + bias).rounded(.toNearestOrAwayFromZero)
      // The zero point is in 0...255, so values beyond these bounds saturate anyway.
      let steps = value > -1024 ? (value < 1024 ? Int(value) : 1024) : -1024
      return UInt8(min(max(steps + Int(outputZeroPoint), 0), 255))
    }
  }

  func invoke(_ tensors: borrowing TensorTable) {
    plain.invoke(tensors)
    for part in rescaled {
      var destination = tensors.writeBytes(output)
      mapRows(
        tensors.readBytes(part.source), rows: part.rows, rowByteCount: part.rowByteCount,
        table: part.table.span,
        to: &destination, offset: part.offset, stride: part.stride)
    }
  }
}
