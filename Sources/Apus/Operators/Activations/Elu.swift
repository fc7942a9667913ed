// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `ELU`: `eˣ − 1` below zero, `x` above.
enum Elu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    return try node.realFunction(.elu, input: input, output: output)
  }
}
