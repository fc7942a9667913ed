// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RELU_0_TO_1`: values are clamped to 0…1.
enum Relu0To1 {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.rectifier(0, 1)
  }
}
