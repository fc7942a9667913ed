// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// A function of quantized bytes in fixed point, with the reference's results.
struct X86ExactByteFunction: X86ByteCode {
  var generator: X86SumGenerator
  var function: CodeFunction<X86SumGenerator.Arguments>
  private let factors: X86SumFactors
  var arguments: X86SumGenerator.Arguments { unsafe .init(factors: Int(bitPattern: factors.address)) }

  /// Generates the function; throws if a multiplier is negative or shifts left, or code cannot be placed.
  init(
    _ operation: X86ByteFunction.Operation, target: X86Target, isSigned: Bool, _ steps: (lhs: Int, rhs: Int)
  ) throws(Decline) {
    let (lhs, rhs, output, kind): (QuantizedOperand, QuantizedOperand, QuantizedResult, X86SumGenerator.Kind)
    switch operation {
    case .sum(let sum):
      (lhs, rhs, output) = (sum.lhs, sum.rhs, sum.output)
      kind = sum.isSquared ? .squaredDifference : sum.isDifference ? .difference : .sum
    case .product(let product):
      let one = FixedPointMultiplier(0.5)
      lhs = QuantizedOperand(zeroPoint: product.lhsZeroPoint, multiplier: one)
      rhs = QuantizedOperand(zeroPoint: product.rhsZeroPoint, multiplier: one)
      (output, kind) = (product.output, .product)
    }
    let multipliers = [lhs.multiplier, rhs.multiplier, output.multiplier]
    if let factor = multipliers.first(where: { $0.value < 0 || !(-30...0).contains($0.shift) }) {
      throw Decline("a factor of \(factor.text) is negative, or does not shift right by 0 to 30 bits")
    }
    generator = X86SumGenerator(
      target: target, kind: kind, isSigned: isSigned, lhsIsBroadcast: steps.lhs == 0,
      rhsIsBroadcast: steps.rhs == 0,
      lhsHalves: Self.isHalf(lhs.multiplier), rhsHalves: Self.isHalf(rhs.multiplier),
      lhsShifts: lhs.multiplier.shift != 0, rhsShifts: rhs.multiplier.shift != 0,
      outputShifts: output.multiplier.shift != 0)
    function = try unsafe CodeFunction(generator)
    factors = X86SumFactors(lhs: lhs, rhs: rhs, output: output, leftShift: kind.leftShift)
  }

  /// Whether a multiplier is exactly one half.
  private static func isHalf(_ multiplier: FixedPointMultiplier) -> Bool {
    multiplier.value == 1 << 30 && multiplier.shift == 0
  }
}
