// SPDX-License-Identifier: Apache-2.0

/// A fixed-point factor with double rounding as a float, where all sums make the same output: products of them and an offset
/// that has their sign, added without rounding in between, and without the fraction.
///
/// Both are staircases that never fall; they are equal where all steps are at the same sums. The factor being
/// `M / 2^(e+31)`, the reference makes `i` or more, counted from the zero point, of sums from the least `P` on with
/// `P·M ≥ i·2^(e+31) − 2^(e+30) − 2³⁰`, without the last term where `e` is not above zero, and of negative ones the same with
/// the other sign, unless both sides are equal, which is ruled out. With a float `m` and an offset `c`, results are `i` or more
/// where `x·m + c`, rounded to a float, is: where it is at least `i − δ` exactly, half the distance of `i` from the float
/// before it, as ties go to `i`, which is even. So what is asked for is `i − δ − P·m ≤ c < i − δ − (P − 1)·m` for all `i`. Sums
/// beyond ±2²⁴, which are rounded themselves, come after all steps.
///
/// Steps lie anywhere between two sums: of 256, the nearest to one is off by some `m / 256`, and floats up to 256 have errors
/// of 2⁻¹⁷. The smaller a factor, the rarer are floats for it.
///
/// With the *rest* of the factor, which is a second float, there are floats for nearly all: `x·rest + c` comes first, and
/// `x·m` is added to it with what is beyond a float cut off. No integer is missed by that, so that `δ` is zero; the
/// first sum has an error of 2⁻²⁵, and both factors together have 48 digits.
package struct SinglePrecisionFactor: Hashable, Sendable {
  package let multiplier: Float
  package let offset: Float
  /// What the multiplier lacks, or nil where it is enough.
  package let rest: Float?

  /// Up to this magnitude, sums are floats.
  private static let limit = 0x1p24
  /// How many floats next to a factor are tried.
  private static let trialCount = 5
  /// From one of these on, looking for the floats of a channel that has a factor of its own pays: so many outputs, for which
  /// they save as much in ten runs, or so many products, which take as long.
  private static let (leastOutputs, leastProducts) = (1 << 8, 1 << 16)

  /// The greatest error of a sum of rest and offset, which is less than one.
  private static let restError = 0x1.01p-25

  /// What sums in single precision must reach for each step: `i − δ`.
  private static let bounds: [Double] = (0..<260).map { step in
    let float = Float(step)
    return Double(float) - (Double(float) - Double(float.nextDown)) / 2
  }

  /// Finds floats that reach all steps where the reference does, `withRest` or without.
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

  /// The offsets with which all steps are right, if there are any; nil where there are none whatever the multiplier, or a
  /// step is too near a sum to tell.
  ///
  /// Steps are `stride` sums apart, and `first` before the halves. The places of steps are computed with errors below 2⁻²⁶;
  /// nothing that is made of their sums has more than 55 digits. A few steps after the last are looked at as well. Where
  /// products `areCutOff`, they must reach the steps themselves.
  private static func offsets(
    _ stride: Double, _ first: Double, multiplier: Double, steps: ClosedRange<Int>, areCutOff: Bool
  ) -> (least: Double, end: Double)? {
    typealias Four = SIMD4<Double>
    let lower = Double(steps.lowerBound)
    var numbers = Four(lower, lower + 1, lower + 2, lower + 3)
    // One half more is rounded to the next sum, by adding a number whose last place is that of ones.
    let start = Four(repeating: 0.5 - stride / 2 - first)
    let rounding = Four(repeating: 0x1.8p52)
    var (least, most) = (Four(repeating: .infinity), Four(repeating: -.infinity))
    var (leastDistance, mostDistance) = (least, most)
    unsafe bounds.withUnsafeBufferPointer { bounds in
      guard let bounds = bounds.baseAddress else { return }
      var step = steps.lowerBound
      while step <= steps.upperBound {
        let place = numbers * stride + start
        let sum = (place + rounding) - rounding
        let distance = sum - place
        leastDistance.replace(with: distance, where: distance .< leastDistance)
        mostDistance.replace(with: distance, where: distance .> mostDistance)
        let bound = unsafe areCutOff ? numbers : UnsafeRawPointer(bounds + step).loadUnaligned(as: Four.self)
        let rest = bound - sum * multiplier
        least.replace(with: rest, where: rest .< least)
        most.replace(with: rest, where: rest .> most)
        numbers += 4
        step &+= 4
      }
    }
    let margin = 0.5 - 0x1p-25
    guard (Double(steps.upperBound) + 4) * stride < limit, leastDistance.leastOfFour > 0 - margin,
      0 - (0 - mostDistance).leastOfFour < margin
    else { return nil }
    return (0 - (0 - most).leastOfFour, least.leastOfFour + multiplier)
  }

  /// An epilogue with floats for all factors, of so many outputs for each channel; throws where there are none, or where
  /// they are not worth it. Where some need a rest, which only code that `cutsOff` products can add, all have one.
  static func epilogue(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int, cutsOff: Bool
  ) throws(Decline) -> LoweredEpilogue {
    guard case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum) = epilogue else {
      throw Decline("\(epilogue.name) are not in fixed point")
    }
    guard
      multipliers.count == 1 || outputsPerChannel >= leastOutputs
        || outputsPerChannel * depth >= leastProducts
    else {
      throw Decline(
        """
        \(outputsPerChannel) outputs of \(depth) products for each factor are fewer than \(leastOutputs), \
        or \(leastProducts) products
        """)
    }
    // Where no output is below the zero point, what comes of negative sums is bounded.
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

  /// The floats of all channels; throws where one has none.
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
  /// A channel's factor is not one of those that `expectation` describes.
  static func unusable(
    _ factor: FixedPointMultiplier, _ channel: Int, _ expectation: StaticString
  ) -> Decline {
    Decline("the factor of channel \(channel), \(factor.text), is not one of those that \(expectation)")
  }
}

extension FixedPointMultiplier {
  /// The number that it stands for.
  var real: Double { Double(value) * Double(sign: .plus, exponent: Int(shift) - 31, significand: 1) }

  /// The integer and the power of two that it stands for.
  var text: String { "\(value) · 2^\(Int(shift) - 31)" }
}

extension SIMD4<Double> {
  @inline(__always)
  fileprivate var leastOfFour: Double { Swift.min(Swift.min(self[0], self[1]), Swift.min(self[2], self[3])) }
}
