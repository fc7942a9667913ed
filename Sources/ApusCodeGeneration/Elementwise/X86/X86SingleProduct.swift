// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Products of quantized bytes in single precision, if ``SinglePrecisionFactor`` has floats for the factor. They take half the
/// time of fixed point.
struct X86SingleProduct: X86ByteCode {
  var generator: X86SingleProductGenerator
  var function: CodeFunction<X86SingleProductGenerator.Arguments>
  let arguments: X86SingleProductGenerator.Arguments

  /// The fewest results for which the search for floats pays: it takes as long as computing them.
  static let minimumCount = 1 << 11

  /// Finds the floats; throws if there are none, or code cannot be placed.
  init(
    _ product: QuantizedProduct, like exact: X86ExactByteFunction, target: X86Target, isSigned: Bool
  ) throws(Decline) {
    let output = product.output
    let last = max(output.maximum - output.zeroPoint, output.zeroPoint - output.minimum)
    guard last > 0, output.multiplier.shift <= 0 else {
      throw Decline("a factor of \(output.multiplier.text) shifts left, or all results are the zero point")
    }
    let range = 1...Int(last)
    // Only AVX-512 has products that are rounded toward zero, which a factor of two floats needs.
    guard
      let factor = SinglePrecisionFactor(output.multiplier, steps: range)
        ?? (target == .avx512
          ? SinglePrecisionFactor(output.multiplier, steps: range, withRest: true) : nil)
    else { throw Decline("no floats stand for a factor of \(output.multiplier.text)") }
    generator = X86SingleProductGenerator(
      target: target, isSigned: isSigned, lhsIsBroadcast: exact.generator.lhsIsBroadcast,
      rhsIsBroadcast: exact.generator.rhsIsBroadcast, hasRest: factor.rest != nil)
    function = try unsafe CodeFunction(generator)
    arguments = X86SingleProductGenerator.Arguments(
      factor: factor.multiplier, rest: factor.rest ?? 0, offset: factor.offset,
      lhsZeroPoint: Int16(truncatingIfNeeded: product.lhsZeroPoint),
      rhsZeroPoint: Int16(truncatingIfNeeded: product.rhsZeroPoint),
      zeroPoint: Int16(truncatingIfNeeded: output.zeroPoint),
      minimum: UInt8(truncatingIfNeeded: output.minimum), maximum: UInt8(truncatingIfNeeded: output.maximum),
      // Each 128-bit lane is packed by itself: its first two dwords come from the first vector.
      order: target == .avx512
        ? (0x0D0C_0908_0504_0100, 0x0F0E_0B0A_0706_0302) : (0x0706_0302_0504_0100, 0))
  }
}
