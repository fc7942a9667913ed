// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `DYNAMIC_UPDATE_SLICE`: a copy of a tensor with a block written over it, at indices that each run gives.
struct DynamicUpdateSlice: Operator {
  private let input: TensorSlot
  private let update: TensorSlot
  private let starts: TensorSlot
  private let output: TensorSlot
  private let copy: StridedCopy
  private let strides: [Int]

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let input = try node.input(0)
    let update = try node.input(1, types: [input.type], rank: input.shape.rank)
    let starts = try node.input(2, types: [.int32, .int64], rank: 1)
    guard starts.shape[0] == input.shape.rank,
      zip(update.shape.dimensions, input.shape.dimensions).allSatisfy({ $0 <= $1 })
    else {
      throw node.malformed("\(update.shape) at \(starts.shape[0]) coordinates does not fit \(input.shape)")
    }
    let output = try node.output(0, shape: input.shape, like: input)
    if update.shape.elementCount == 0 { return DataMovement(filling: (output, .tensor(input)), []) }
    let step = try node.move(
      update.shape.dimensions, from: update, strides: update.shape.strides, to: output,
      strides: input.shape.strides)
    return DynamicUpdateSlice(
      input: input, update: update, starts: starts, output: output, copy: step.copy,
      strides: input.shape.strides)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    copyBytes(tensors.readBytes(input), to: &result, threads: tensors.threads)
    var shift = 0
    for axis in strides.indices {
      let start =
        starts.type == .int64
        ? Int(tensors.read(starts, as: Int64.self)[axis]) : Int(tensors.read(starts, as: Int32.self)[axis])
      // Clamped so that the block stays inside.
      shift += min(max(start, 0), input.shape[axis] - update.shape[axis]) * strides[axis]
    }
    copy.run(
      tensors.readBytes(update), to: &result, shift: shift * (input.type.byteCount ?? 1),
      threads: tensors.threads)
  }
}
