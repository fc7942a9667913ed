// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RELU6`: values are clamped to 0…6.
enum Relu6 {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.rectifier(0, 6)
  }
}
