// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The rounding rules over wide integers, stated by what they mean and not by how kernels compute them.
package enum ReferenceRounding {
  /// `numerator / denominator` to the nearest integer; halves go away from zero, or up.
  package static func quotient(_ numerator: Int128, _ denominator: Int128, halvesUp: Bool) -> Int128 {
    let (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    let twice = 2 * abs(rest)
    if twice < denominator { return whole }
    if twice > denominator || !halvesUp { return whole + numerator.signum() }
    return numerator > 0 ? whole + 1 : whole
  }

  /// 2ab's high half: the reference adds 2³⁰ or 1 − 2³⁰ and truncates, which is to nearest with halves up.
  package static func doublingHighMultiply(_ a: Int32, _ b: Int32) -> Int32 {
    Int32(clamping: quotient(Int128(a) * Int128(b), 1 << 31, halvesUp: true))
  }

  /// `x / 2^exponent`, halves away from zero.
  package static func divideByPowerOfTwo(_ x: Int32, _ exponent: Int32) -> Int32 {
    Int32(clamping: quotient(Int128(x), 1 << Int128(exponent), halvesUp: false))
  }

  /// A multiplier's product: the left shift wraps, then two roundings.
  package static func multiply(_ x: Int32, value: Int32, shift: Int32) -> Int32 {
    let shifted = Int32(truncatingIfNeeded: Int128(x) << Int128(max(shift, 0)))
    return divideByPowerOfTwo(doublingHighMultiply(shifted, value), max(-shift, 0))
  }
}

/// A byte minus its operand's zero point.
func difference(_ byte: UInt8, _ side: KeyPath<ZeroPoints, Int32>, _ operands: MatrixOperands) -> Int32 {
  switch operands {
  case .float32: 0
  case .uint8(let lhs, let rhs): Int32(byte) - ZeroPoints(lhs: lhs, rhs: rhs)[keyPath: side]
  case .int8(let lhs, let rhs):
    Int32(Int8(bitPattern: byte)) - ZeroPoints(lhs: lhs, rhs: rhs)[keyPath: side]
  // Other operands are tested against the goldens.
  default: 0
  }
}

/// The zero points of a product's operands.
struct ZeroPoints {
  let lhs: Int32
  let rhs: Int32
}

/// The output byte for a sum.
func outputByte(_ sum: Int32, channel: Int, _ epilogue: Epilogue) -> UInt8 {
  switch epilogue {
  case .float32:
    return 0
  case .fixedPoint(let factors, let zeroPoint, let minimum, let maximum):
    let factor = factors.count == 1 ? factors[0] : factors[channel]
    let product = ReferenceRounding.multiply(sum, value: factor.value, shift: factor.shift)
    return UInt8(truncatingIfNeeded: min(max(product &+ zeroPoint, minimum), maximum))
  case .float64(let factors, let zeroPoint, let minimum, let maximum):
    let factor = factors.count == 1 ? factors[0] : factors[channel]
    let product = (Double(sum) * factor).rounded(.toNearestOrAwayFromZero)
    let value = min(max(product + Double(zeroPoint), Double(minimum)), Double(maximum))
    return UInt8(truncatingIfNeeded: Int32(value))
  default:
    return 0
  }
}

/// A float brought into an epilogue's bounds.
func clamp(_ value: Double, _ epilogue: Epilogue) -> Float {
  guard case .float32(let minimum, let maximum) = epilogue else { return .nan }
  return min(max(Float(value), minimum), maximum)
}
