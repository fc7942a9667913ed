// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `EXP`: `eˣ`.
enum Exp {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    try node.requireNoZeroPoint(ofInt16: input, output)
    return try node.realFunction(.exp, input: input, output: output)
  }
}
