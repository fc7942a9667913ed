// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A fixed-point factor with double rounding as a `Float` that gives the same output for every sum: a fused
/// multiply-add of an offset with the sum's sign, then truncation.
///
/// As functions of the sum, both the reference and this are staircases that never fall. They are equal if all
/// their steps are at the same sums. With the factor `M / 2^(e+31)`, the reference's output, counted from the
/// zero point, is at least `i` from the smallest sum `P` on with `P·M ≥ i·2^(e+31) − 2^(e+30) − 2³⁰`; the
/// last term is absent unless `e` is positive. Negative sums are symmetric, unless both sides are equal,
/// which is ruled out.
///
/// With a float `m` and an offset `c`, the output is at least `i` if `x·m + c`, rounded to a float, is at
/// least `i`. That holds if it is at least `i − δ` exactly, where `δ` is half the distance from `i` to the
/// float below it, as ties go to `i`, which is even. So the condition is `i − δ − P·m ≤ c < i − δ − (P −
/// 1)·m` for all `i`. Sums beyond ±2²⁴, which are rounded themselves, come after all steps.
///
/// A step is anywhere between two sums: among 256 steps, the one nearest to a sum misses it by about `m /
/// 256`, and floats up to 256 have errors of 2⁻¹⁷. The smaller a factor, the more rarely it has such floats.
///
/// With the *rest* of the factor, a second float, nearly all factors have floats: first `x·rest + c`, then
/// `x·m` is added to it and the result truncated to a float. This misses no integer, so `δ` is zero. The
/// first sum has an error of 2⁻²⁵, and both factors together have 48 bits.
package struct SinglePrecisionFactor: Hashable, Sendable {
  package let multiplier: Float
  package let offset: Float
  /// The difference of the factor and the multiplier; nil if the multiplier suffices.
  package let rest: Float?

  /// Up to this magnitude, sums are exact floats.
  private static let limit = 0x1p24
  /// The number of floats next to a factor to try.
  private static let trialCount = 5
  /// Searching floats for per-channel factors pays from this many outputs on, for which they save as much
  /// time in ten runs, or from this many products on, which take as long.
  private static let (minimumOutputs, minimumProducts) = (1 << 8, 1 << 16)

  /// A bound on the error of `x·rest + c`, which is less than one.
  private static let restError = 0x1.01p-25

  /// The value that `x·m + c` must reach for each step: `i − δ`.
  private static let bounds: [Double] = (0..<260).map { step in
    let float = Float(step)
    return Double(float) - (Double(float) - Double(float.nextDown)) / 2
  }

  /// Finds floats with the reference's steps, `withRest` or without; nil if there are none.
  package init?(_ factor: FixedPointMultiplier, steps: ClosedRange<Int>, withRest: Bool = false) {
    guard factor.value > 0, -16...3 ~= factor.shift, steps.lowerBound > 0, steps.upperBound < 256 else {
      return nil
    }
    let real = factor.real
    let nearest = Float(real)
    // Factors that do not shift right are rounded once.
    let first = factor.shift < 0 ? 0x1p30 / Double(factor.value) : 0
    if withRest {
      guard
        let range = Self.offsets(1 / real, first, multiplier: real, steps: steps, areCutOff: true)
      else { return nil }
      let offset = Float((range.least + range.end) / 2)
      guard Double(offset) >= range.least + Self.restError, Double(offset) < range.end - Self.restError,
        offset < 0.99
      else { return nil }
      (multiplier, self.offset, rest) = (nearest, offset, Float(real - Double(nearest)))
      return
    }
    for trial in 0..<Self.trialCount {
      let distance = (trial + 1) / 2 * (trial % 2 == 0 ? 1 : -1)
      let multiplier = Float(bitPattern: UInt32(truncatingIfNeeded: Int(nearest.bitPattern) + distance))
      guard
        let range = Self.offsets(
          1 / real, first, multiplier: Double(multiplier), steps: steps, areCutOff: false)
      else { return nil }
      let offset = Float((range.least + range.end) / 2)
      if Double(offset) >= range.least, Double(offset) < range.end {
        (self.multiplier, self.offset, rest) = (multiplier, offset, nil)
        return
      }
    }
    return nil
  }

  package init(multiplier: Float, offset: Float, rest: Float? = nil) {
    (self.multiplier, self.offset, self.rest) = (multiplier, offset, rest)
  }

  /// The range of offsets with which all steps are right. nil if there are none for any multiplier, or a step
  /// is too close to a sum to decide.
  ///
  /// Steps are `stride` sums apart, and `first` sums before the half-way points because of the first
  /// rounding. Their positions are computed with errors below 2⁻²⁶; no sum of them takes more than 55 bits. A
  /// few steps after the last are checked as well. If products `areCutOff`, they must reach the steps
  /// themselves.
  private static func offsets(
    _ stride: Double, _ first: Double, multiplier: Double, steps: ClosedRange<Int>, areCutOff: Bool
  ) -> (least: Double, end: Double)? {
    typealias Four = SIMD4<Double>
    let lower = Double(steps.lowerBound)
    var numbers = Four(lower, lower + 1, lower + 2, lower + 3)
    // Adding one half and then a number with an ulp of 1 rounds to the next sum.
    let start = Four(repeating: 0.5 - stride / 2 - first)
    let rounding = Four(repeating: 0x1.8p52)
    var (least, most) = (Four(repeating: .infinity), Four(repeating: -.infinity))
    var (minimumDistance, maximumDistance) = (least, most)
    unsafe bounds.withUnsafeBufferPointer { bounds in
      guard let bounds = bounds.baseAddress else { return }
      var step = steps.lowerBound
      while step <= steps.upperBound {
        let place = numbers * stride + start
        let sum = (place + rounding) - rounding
        let distance = sum - place
        minimumDistance.replace(with: distance, where: distance .< minimumDistance)
        maximumDistance.replace(with: distance, where: distance .> maximumDistance)
        let bound = unsafe areCutOff ? numbers : UnsafeRawPointer(bounds + step).loadUnaligned(as: Four.self)
        let rest = bound - sum * multiplier
        least.replace(with: rest, where: rest .< least)
        most.replace(with: rest, where: rest .> most)
        numbers += 4
        step &+= 4
      }
    }
    let margin = 0.5 - 0x1p-25
    guard (Double(steps.upperBound) + 4) * stride < limit, minimumDistance.minimumOfFour > 0 - margin,
      0 - (0 - maximumDistance).minimumOfFour < margin
    else { return nil }
    return (0 - (0 - most).minimumOfFour, least.minimumOfFour + multiplier)
  }

  /// An epilogue with floats for all factors. Throws if some factor has none, or if the search does not pay.
  ///
  /// - Parameters:
  ///   - outputsPerChannel: how many outputs each factor makes per run.
  ///   - cutsOff: whether the target can truncate products. Only then can factors have a rest; if one needs
  ///     it, all have one.
  package static func epilogue(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int, cutsOff: Bool
  ) throws(Decline) -> LoweredEpilogue {
    guard case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum) = epilogue else {
      throw Decline("\(epilogue.name) are not in fixed point")
    }
    guard
      multipliers.count == 1 || outputsPerChannel >= minimumOutputs
        || outputsPerChannel * depth >= minimumProducts
    else {
      throw Decline(
        """
        \(outputsPerChannel) outputs of \(depth) products for each factor are fewer than \(minimumOutputs), \
        or \(minimumProducts) products
        """)
    }
    // If no output is below the zero point, outputs of negative sums are clamped.
    let isSymmetric = minimum < zeroPoint
    let first = isSymmetric ? 1 : Int(minimum - zeroPoint) + 1
    let last = isSymmetric ? max(maximum - zeroPoint, zeroPoint - minimum) : maximum - zeroPoint
    guard first <= Int(last) else { throw Decline("all outputs are \(minimum)") }
    let steps = first...Int(last)
    let factors: [SinglePrecisionFactor]
    do throws(Decline) {
      factors = try Self.factors(multipliers, faint: faint, steps: steps, withRest: false)
    } catch {
      guard cutsOff else { throw error }
      factors = try Self.factors(multipliers, faint: faint, steps: steps, withRest: true)
    }
    return .singlePrecision(factors, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
  }

  /// The floats of all channels; throws if one has none.
  private static func factors(
    _ multipliers: [FixedPointMultiplier], faint: FaintChannels?, steps: ClosedRange<Int>, withRest: Bool
  ) throws(Decline) -> [SinglePrecisionFactor] {
    var factors: [SinglePrecisionFactor] = []
    factors.reserveCapacity(multipliers.count)
    for (channel, multiplier) in multipliers.enumerated() {
      if let faint, faint.isZero(channel) {
        factors.append(SinglePrecisionFactor(multiplier: 0, offset: 0, rest: withRest ? 0 : nil))
        continue
      }
      if let faint, faint.contains(channel) {
        // All sums are near one multiple of the factor's inverse.
        factors.append(
          SinglePrecisionFactor(multiplier: 0x1p-22, offset: 0.5, rest: withRest ? 0 : nil))
        continue
      }
      guard let factor = SinglePrecisionFactor(multiplier, steps: steps, withRest: withRest) else {
        throw .unusable(
          multiplier, channel,
          withRest
            ? "make the same outputs in single precision in two parts"
            : "make the same outputs in single precision")
      }
      factors.append(factor)
    }
    return factors
  }
}

extension Decline {
  /// The reason for declining: a channel's factor is not as `expectation` says.
  package static func unusable(
    _ factor: FixedPointMultiplier, _ channel: Int, _ expectation: StaticString
  ) -> Decline {
    Decline("the factor of channel \(channel), \(factor.text), is not one of those that \(expectation)")
  }
}

extension FixedPointMultiplier {
  /// The real value.
  var real: Double { Double(value) * Double(sign: .plus, exponent: Int(shift) - 31, significand: 1) }

  /// The value as an integer times a power of two.
  package var text: String { "\(value) · 2^\(Int(shift) - 31)" }
}

extension SIMD4<Double> {
  @inline(__always)
  fileprivate var minimumOfFour: Double {
    Swift.min(Swift.min(self[0], self[1]), Swift.min(self[2], self[3]))
  }
}
