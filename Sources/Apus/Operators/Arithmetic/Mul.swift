// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `MUL`: the product of two tensors that broadcast to each other, element by element, clamped by an activation.
enum Mul {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try Arithmetic(.multiply, node).prepared(takesPlainWords: true)
  }
}
