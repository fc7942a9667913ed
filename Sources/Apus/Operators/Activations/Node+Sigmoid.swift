// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Node {
  /// The 16-bit table function for an input's scale; powers of two in `powerShifts` are exact.
  func wordSigmoid(
    input: TensorSlot, output: TensorSlot, powerShifts: ClosedRange<Int>
  ) throws(ApusError) -> WordSigmoid {
    try requireNoZeroPoint(input)
    try requireNoZeroPoint(output)
    guard try quantization(of: output).scale.roundedBinaryExponent == -15 else {
      throw malformed("\(output.name) has the scale \(try quantization(of: output).scale), not 2^-15")
    }
    let scale = try quantization(of: input).scale
    if let exponent = scale.roundedBinaryExponent, powerShifts.contains(12 + exponent) {
      return WordSigmoid(multiplier: 3 << Int32(12 + exponent), shift: 0)
    }
    var multiplier = Double(scale) * 4096 * 3
    var shift: Int32 = 0
    while multiplier <= 32767.0 / 2, shift <= 30 {
      shift += 1
      multiplier *= 2
    }
    guard multiplier < 0x1p31 else {
      throw unsupported("\(input.name) has the scale \(scale), which is too large")
    }
    return WordSigmoid(multiplier: Int32(multiplier), shift: shift)
  }
}
