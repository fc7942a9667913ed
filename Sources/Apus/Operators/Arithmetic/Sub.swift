// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SUB`: the difference of two tensors that broadcast to each other, clamped by an activation.
enum Sub {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try Arithmetic(.subtract, node).prepared(takesPlainWords: false)
  }
}
