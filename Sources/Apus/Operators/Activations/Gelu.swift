// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `GELU`: `x` times the normal distribution function, or an approximation to it.
enum Gelu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    let isApproximate = try node.options.gelu.isApproximate
    return try node.realFunction(
      node.isHalfPrecision ? .halfGelu(isApproximate: isApproximate) : .gelu(isApproximate: isApproximate),
      input: input, output: output)
  }
}
