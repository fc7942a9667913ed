// SPDX-License-Identifier: Apache-2.0

/// A real factor as `value · 2^(shift − 31)`, the form in which integer kernels apply scales.
@usableFromInline package struct FixedPointMultiplier: Hashable, Sendable {
  /// The mantissa: at least 2³⁰ in magnitude, or 0.
  @usableFromInline package let value: Int32
  /// The binary exponent, in `-31...30`; positive shifts left.
  @usableFromInline package let shift: Int32

  /// The nearest multiplier to `real`, halves away from zero.
  ///
  /// A factor below about 2⁻³² becomes 0, one of 2³⁰ or more the maximum; NaN becomes 0.
  package init(_ real: Double) {
    guard real.isNormal else {
      value = real.isInfinite ? (real > 0 ? .max : -.max) : 0
      shift = real.isInfinite ? 30 : 0
      return
    }
    // The significand is in 1..<2, and the mantissa is half of it in units of 2⁻³¹: of 53 bits, 22 are
    // rounded off.
    let significand = real.significandBitPattern | 1 << 52
    let magnitude = (significand + 1 << 21) >> 22
    let carries = magnitude == 1 << 31
    let exponent = Int(real.exponentBitPattern) - 1023 + (carries ? 2 : 1)
    let mantissa = carries ? 1 << 30 : Int32(truncatingIfNeeded: magnitude)
    if exponent < -31 {
      (value, shift) = (0, 0)
    } else if exponent > 30 {
      (value, shift) = (real < 0 ? -.max : .max, 30)
    } else {
      (value, shift) = (real < 0 ? -mantissa : mantissa, Int32(exponent))
    }
  }

  /// `x` times this factor: shifted left (wrapping), multiplied and rounded, shifted right and rounded again.
  @inlinable @inline(__always)
  package func apply(_ x: Int32) -> Int32 {
    let left = max(shift, 0)
    let right = max(0 &- shift, 0)
    return roundingDivideByPowerOfTwo(saturatingRoundingDoublingHighMultiply(x &<< left, value), right)
  }

  /// `x` times this factor: shifted left (wrapping), multiplied and rounded, shifted right and rounded with
  /// halves up.
  @inline(__always)
  package func applyUpward(_ x: Int32) -> Int32 {
    let high = Int64(saturatingRoundingDoublingHighMultiply(x &<< max(shift, 0), value))
    let right = Int64(max(0 &- shift, 0))
    return Int32(truncatingIfNeeded: right == 0 ? high : (high &+ (1 &<< (right &- 1))) &>> right)
  }

  /// The low 32 bits of `x` times this factor with a mantissa of 15 bits, rounded once, halves up.
  @inline(__always)
  package func applyReduced(_ x: Int64) -> Int32 {
    let mantissa = value < 0x7FFF_0000 ? (value &+ (1 << 15)) &>> 16 : 0x7FFF
    let right = Int64(max(1, 15 &- shift))
    let product = x &* Int64(mantissa) &+ (1 &<< (right &- 1))
    return Int32(truncatingIfNeeded: product &>> right)
  }
}

/// The high half of `2ab`, rounded to nearest, halves up; saturates at the one overflow, both factors −2³¹.
@inlinable @inline(__always)
package func saturatingRoundingDoublingHighMultiply(_ a: Int32, _ b: Int32) -> Int32 {
  if a == .min, b == .min { return .max }
  // |a·b| < 2⁶², so neither the sum nor its upper half overflows.
  return Int32(truncatingIfNeeded: (Int64(a) &* Int64(b) &+ (1 << 30)) &>> 31)
}

/// `x / 2^exponent` rounded to nearest, halves away from zero, for an exponent in `0...31`.
@inlinable @inline(__always)
package func roundingDivideByPowerOfTwo(_ x: Int32, _ exponent: Int32) -> Int32 {
  let mask = Int32(truncatingIfNeeded: (Int64(1) &<< Int64(exponent)) &- 1)
  let threshold = (mask &>> 1) &+ (x < 0 ? 1 : 0)
  return (x &>> exponent) &+ (x & mask > threshold ? 1 : 0)
}

/// `x · scale` rounded once, halves away from zero, plus the zero point; saturates far outside any byte.
@inline(__always)
package func requantizeOnce(_ x: Int32, scale: Double, zeroPoint: Int32) -> Int32 {
  let product = (Double(x) * scale).rounded(.toNearestOrAwayFromZero)
  // The bounds leave room for the zero point; NaN compares as neither and becomes the lower bound.
  let bounded = product > -0x1p30 ? (product < 0x1p30 ? product : 0x1p30) : -0x1p30
  return Int32(bounded) &+ zeroPoint
}

/// A 64-bit sum `x` times `scale`, rounded once, halves away from zero, plus the zero point; saturates far
/// outside any byte.
@inline(__always)
package func requantizeOnce(_ x: Int64, scale: Double, zeroPoint: Int32) -> Int32 {
  let product = (Double(x) * scale).rounded(.toNearestOrAwayFromZero)
  let bounded = product > -0x1p30 ? (product < 0x1p30 ? product : 0x1p30) : -0x1p30
  return Int32(bounded) &+ zeroPoint
}

/// Four products by the rule of `saturatingRoundingDoublingHighMultiply`, for factors that are not negative.
///
/// With `u = x + 2³¹`, which is not negative either, `u·m = x·m + 2³¹·m`: one unsigned product below 2⁶³,
/// whose upper part is too large by exactly `m`.
@inline(__always)
func roundingDoublingHighMultiply(_ x: SIMD4<Int32>, _ factors: SIMD4<UInt32>) -> SIMD4<Int32> {
  let unsigned = SIMD4<UInt32>(bits: x) ^ SIMD4(repeating: 0x8000_0000)
  let products = SIMD4<UInt64>(widening: unsigned) &* SIMD4<UInt64>(widening: factors)
  let high = (products &+ SIMD4(repeating: 1 << 30)) &>> SIMD4(repeating: 31)
  return SIMD4<Int32>(bits: SIMD4<UInt32>(lowHalves: high) &- factors)
}

/// Four quotients by the rule of `roundingDivideByPowerOfTwo`; each mask is 2^exponent − 1.
@inline(__always)
func roundingDivideByPowerOfTwo(
  _ x: SIMD4<Int32>, _ exponents: SIMD4<Int32>, _ masks: SIMD4<Int32>
) -> SIMD4<Int32> {
  // x >> 31 is −1 for negative x: subtracting it raises the threshold.
  let thresholds = (masks &>> SIMD4(repeating: 1)) &- (x &>> SIMD4(repeating: 31))
  let quotients = x &>> exponents
  return quotients.replacing(with: quotients &+ SIMD4(repeating: 1), where: (x & masks) .> thresholds)
}
