// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `LOCAL_RESPONSE_NORMALIZATION`: each channel divided by a power of the squares of its neighbors.
struct LocalResponseNormalization: Operator {
  private let input: TensorSlot
  private let output: TensorSlot
  private let radius: Int
  private let bias: Float
  private let alpha: Float
  private let beta: Float

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32], rank: 4)
    try node.check(plainWork: Double(input.shape.elementCount) * Double(input.shape[3]))
    return LocalResponseNormalization(
      input: input, output: try node.output(0, shape: input.shape, like: input),
      radius: try node.int32Option(0, default: 0), bias: try node.floatOption(1, default: 0),
      alpha: try node.floatOption(2, default: 0), beta: try node.floatOption(3, default: 0))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.write(output, as: Float.self)
    normalizeResponses(
      tensors.read(input, as: Float.self), channels: input.shape[3], radius: radius, bias: bias, alpha: alpha,
      beta: beta, to: &result, threads: tensors.threads)
  }
}
