// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `NEG`: the negative of each number.
enum Neg {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.numberFunction(.negate, .negate)
  }
}
