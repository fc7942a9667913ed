// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

extension FixedPointMultiplier {
  /// Creates a multiplier from its parts: any mantissa, and a shift in `-31...30`.
  init(value: Int32, shift: Int32) {
    self.value = value
    self.shift = shift
  }

  /// This factor divided by a count. The shift compensates for lost bits of the mantissa as far as it can.
  ///
  /// Truncated, as in the reference.
  package func divided(by count: Int) -> FixedPointMultiplier {
    guard count > 0 else { return self }
    // |mantissa| < 2³¹ and the shift is at most 32, so nothing overflows.
    let bits = min(Int32(63 - count.leadingZeroBitCount), 32, 31 + shift)
    let mantissa = (Int64(value) << Int64(bits)) / Int64(count)
    return FixedPointMultiplier(value: Int32(truncatingIfNeeded: mantissa), shift: shift - bits)
  }
}

/// Computes quantized values from sums: subtracts the zero points' share, rescales, adds the zero point,
/// clamps.
package struct QuantizedMean: Sendable {
  private let zeroSum: Int32
  private let multiplier: FixedPointMultiplier
  private let zeroPoint: Int32
  private let minimum: Int32
  private let maximum: Int32
  /// The epilogue for whole vectors of bytes.
  private let epilogue: QuantizedEpilogue?

  /// `zeroSum` is the input zero point times the number of values in a sum.
  package init(
    zeroSum: Int32, multiplier: FixedPointMultiplier, zeroPoint: Int32, minimum: Int32, maximum: Int32
  ) {
    self.zeroSum = zeroSum
    self.multiplier = multiplier
    self.zeroPoint = zeroPoint
    self.minimum = minimum
    self.maximum = maximum
    epilogue = QuantizedEpilogue(
      .fixedPoint([multiplier], zeroPoint: zeroPoint, minimum: minimum, maximum: maximum), channels: 1)
  }

  /// Writes the low `width` bytes, 1 or 2, of each value from its int32 sum.
  ///
  /// Ends early if the run has to end.
  package func store(_ sums: RawSpan, to output: inout MutableRawSpan, width: Int, threads: ThreadTeam) {
    let count = sums.byteCount / 4
    precondition(output.byteCount >= count * width)
    var poll = StopPoll(threads)
    var first = 0
    while width == 1, first &+ 8 <= count, let epilogue {
      if poll.mustStop(before: 8) { return }
      let values = unsafe sums.unsafeLoadUnaligned(fromByteOffset: first &* 4, as: SIMD8<Int32>.self)
      let scaled = values &- SIMD8(repeating: zeroSum)
      output.storeBytes(
        of: epilogue.bytes(scaled.lowHalf, scaled.highHalf, channel: 0), toByteOffset: first,
        as: SIMD8<UInt8>.self)
      first &+= 8
    }
    for index in first..<count {
      if poll.mustStop(before: 1) { return }
      let sum = unsafe sums.unsafeLoad(fromByteOffset: index &* 4, as: Int32.self)
      let scaled = multiplier.apply(sum &- zeroSum) &+ zeroPoint
      let value = min(max(scaled, minimum), maximum)
      if width == 1 {
        output.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: index, as: UInt8.self)
      } else {
        output.storeBytes(of: Int16(truncatingIfNeeded: value), toByteOffset: index &* 2, as: Int16.self)
      }
    }
  }
}

/// Divides sums by a count, unless the run has to end; integers are truncated.
package func divideSums(
  _ elements: ScalarType, _ sums: RawSpan, by count: Int, to output: inout MutableRawSpan, threads: ThreadTeam
) {
  guard count > 0 else { return }
  var poll = StopPoll(threads)
  let width = elements == .float32 ? 4 : 8
  forEachPiece(of: sums.byteCount / width, &poll) { piece in
    switch elements {
    case .float32:
      for index in piece {
        let mean = unsafe sums.unsafeLoad(fromByteOffset: index &* 4, as: Float.self) / Float(count)
        output.storeBytes(of: mean, toByteOffset: index &* 4, as: Float.self)
      }
    case .int64:
      for index in piece {
        let mean = unsafe sums.unsafeLoad(fromByteOffset: index &* 8, as: Int64.self) / Int64(count)
        output.storeBytes(of: mean, toByteOffset: index &* 8, as: Int64.self)
      }
    default:
      for index in piece {
        let mean = unsafe sums.unsafeLoad(fromByteOffset: index &* 8, as: Int64.self) / Int64(count)
        output.storeBytes(of: Int32(truncatingIfNeeded: mean), toByteOffset: index &* 4, as: Int32.self)
      }
    }
  }
}

extension Reduction {
  /// Multiplies quantized integers, int8 or int16, rescaling after each step but the first.
  ///
  /// Writes int64 products. The first value of each result is not rescaled.
  package func quantizedProduct(
    _ elements: ScalarType, _ input: RawSpan, zeroPoint: Int32, step: ProductStep,
    products: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= inputByteCount(elements) && products.byteCount >= outputCount * 8)
    for index in 0..<outputCount {
      products.storeBytes(of: Int64.min, toByteOffset: index &* 8, as: Int64.self)
    }
    forEachPair(threads: threads) { from, to in
      let value: Int32
      if elements == .int8 {
        value = Int32(unsafe input.unsafeLoad(fromByteOffset: from, as: Int8.self)) &- zeroPoint
      } else {
        value = Int32(unsafe input.unsafeLoad(fromByteOffset: from &* 2, as: Int16.self)) &- zeroPoint
      }
      let current = unsafe products.bytes.unsafeLoad(fromByteOffset: to &* 8, as: Int64.self)
      let next = current == .min ? Int64(value) : Int64(step.apply(current &* Int64(value)))
      products.storeBytes(of: next, toByteOffset: to &* 8, as: Int64.self)
    }
  }
}

/// A factor in 16 bits, applied to 64-bit products with one rounding.
package struct ProductStep: Sendable {
  private let mantissa: Int64
  private let shift: Int64

  /// Reduces a multiplier to 16 bits; nil if it shifts left by more than 14.
  package init?(_ multiplier: FixedPointMultiplier) {
    guard multiplier.value >= 0, multiplier.shift <= 14 else { return nil }
    mantissa = multiplier.value < 0x7FFF_0000 ? (Int64(multiplier.value) + (1 << 15)) >> 16 : 0x7FFF
    shift = 15 - Int64(multiplier.shift)
  }

  /// `x` times the factor.
  package func apply(_ x: Int64) -> Int32 {
    Int32(truncatingIfNeeded: (x &* mantissa &+ (1 &<< (shift &- 1))) &>> shift)
  }
}

/// Rescales int64 products once more, adds the zero point and clamps to int8 or int16 by `width`.
package func storeProducts(
  _ products: RawSpan, step: ProductStep, zeroPoint: Int32, to output: inout MutableRawSpan, width: Int
) {
  for index in 0..<products.byteCount / 8 {
    let value =
      step.apply(unsafe products.unsafeLoad(fromByteOffset: index &* 8, as: Int64.self)) &+ zeroPoint
    if width == 1 {
      output.storeBytes(of: Int8(clamping: value), toByteOffset: index, as: Int8.self)
    } else {
      output.storeBytes(of: Int16(clamping: value), toByteOffset: index &* 2, as: Int16.self)
    }
  }
}

/// `base` to the power of `exponent`.
package func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
