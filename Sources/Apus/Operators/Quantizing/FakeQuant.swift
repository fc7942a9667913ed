// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `FAKE_QUANT`: rounds floats as a quantization between two bounds would, shifted so that zero stays exact.
enum FakeQuant {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors()
    let options = node.options.fakeQuant
    let minimum = try options.minimum
    let maximum = try options.maximum
    let bits = try options.bitCount
    guard minimum.isFinite, maximum.isFinite, minimum < maximum, (2...16).contains(bits) else {
      throw node.malformed("\(bits) bits from \(minimum) to \(maximum) are not a quantization")
    }
    guard try !options.isNarrow else {
      throw node.unsupported("a narrow range is not supported")
    }
    let steps = Float(1 << bits - 1)
    let scale = (maximum - minimum) / steps
    guard scale > 0, scale.isFinite else {
      throw node.malformed("the bounds \(minimum) and \(maximum) have no steps between them")
    }
    let zeroPoint = min(max(-minimum / scale, 0), steps).rounded(.toNearestOrAwayFromZero)
    let function = FloatFunction.fakeQuantize(
      scale: scale, minimum: -zeroPoint * scale, maximum: (steps - zeroPoint) * scale)
    return UnaryOperator(function, input: input, output: output, using: node.kernels)
  }
}
