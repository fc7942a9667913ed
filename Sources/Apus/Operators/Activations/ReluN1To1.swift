// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RELU_N1_TO_1`: values are clamped to −1…1.
enum ReluN1To1 {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.rectifier(-1, 1)
  }
}
