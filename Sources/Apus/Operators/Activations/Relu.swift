// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RELU`: negative values become zero.
enum Relu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.rectifier(0, .infinity)
  }
}
