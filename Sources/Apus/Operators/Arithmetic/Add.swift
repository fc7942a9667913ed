// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `ADD`: the sum of two tensors that broadcast to each other, clamped by an activation.
enum Add {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try Arithmetic(.add, node).prepared(takesPlainWords: true)
  }
}
