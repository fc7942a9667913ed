// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `NEG`: the negative of each number.
enum Neg {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.numberFunction(.negate, .negate, types: [.float32, .int8, .int16, .int32, .int64])
  }
}
