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
    let options = node.options.localResponseNormalization
    return LocalResponseNormalization(
      input: input, output: try node.output(0, shape: input.shape, like: input),
      radius: try options.radius, bias: try options.bias, alpha: try options.alpha, beta: try options.beta)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.write(output, as: Float.self)
    normalizeResponses(
      tensors.read(input, as: Float.self), channels: input.shape[3], radius: radius, bias: bias, alpha: alpha,
      beta: beta, to: &result, threads: tensors.threads)
  }
}
