// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `CUMSUM`: running sums along an axis, from either end, with or without the element itself.
struct CumulativeSum: Operator {
  private let input: TensorSlot
  private let output: TensorSlot
  private let sum: RunningSum

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float32, .int32, .int64])
    let axis = try node.axis(node.integer(of: node.input(1, types: [.int32])), rank: input.shape.rank)
    let output = try node.output(0, shape: input.shape, like: input)
    let sum = RunningSum(
      input.type.scalarType(in: .reducible) ?? .float32, outer: input.shape.elementCount(in: 0..<axis),
      length: input.shape[axis], inner: input.shape.elementCount(in: (axis + 1)..<input.shape.rank),
      isExclusive: try node.options.cumsum.isExclusive, isReversed: try node.options.cumsum.isReversed)
    guard input.shape.elementCount > 0 else { return DataMovement([]) }
    return CumulativeSum(input: input, output: output, sum: sum)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    sum.run(tensors.readBytes(input), to: &result, threads: tensors.threads)
  }
}
