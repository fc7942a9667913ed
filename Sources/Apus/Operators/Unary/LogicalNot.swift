// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `LOGICAL_NOT`: the negation of each Boolean.
enum LogicalNot {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    return UnaryOperator(
      LogicalNegation.kernel(count: input.shape.elementCount), choice: .plain, input: input, output: output)
  }
}
