// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import Foundation
import TestSupport
import Testing

@Suite("Factors in double precision")
struct DoublePrecisionTests {
  private func factor(_ mantissa: Int32, shift: Int32) -> FixedPointMultiplier {
    FixedPointMultiplier(Double(mantissa) * exp2(Double(shift - 31)))
  }

  /// The output of a sum, without the zero point.
  private func output(_ sum: Int32, _ factor: DoublePrecisionFactor) -> Int32 {
    let product = Double(sum) * factor.scale
    let offset = Double(signOf: product, magnitudeOf: factor.offset)
    return Int32(truncatingIfNeeded: Int64(product + offset + 0x1.8p52) - (3 << 51))
  }

  /// The first sum whose output, clamped to ±255, differs from the reference's; nil if there is none.
  private func difference(
    _ multiplier: FixedPointMultiplier, _ factor: DoublePrecisionFactor, sums: some Sequence<Int32>
  ) -> Int32? {
    func bounded(_ value: Int32) -> Int32 { min(max(value, -255), 255) }
    return sums.first { bounded(multiplier.apply($0)) != bounded(output($0, factor)) }
  }

  @Test("outputs are the reference's, of sums next to each step, of random ones and of the greatest")
  func outputs() throws {
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      // Some mantissas are multiples of powers of two, and some all ones.
      let zeros = [0, 0, 0, 3, 8, 20].pick(using: &random)
      let shift = Int32.random(in: 1...13, using: &random)
      let mantissa = seed % 10 == 0 ? Int32.max : Int32.random(in: 1 << 30...Int32.max, using: &random)
      let multiplier = factor((mantissa >> zeros) << zeros, shift: 0 - shift)
      guard let factor = DoublePrecisionFactor(multiplier) else {
        #expect(multiplier.value.trailingZeroBitCount + Int(shift) > 21)
        continue
      }
      var sums: [Int32] = [.min, .min + 1, -1 << 24, -1, 0, 1, 1 << 24, .max - 1, .max]
      for step in -256...256 {
        let place = Int32((Double(step) - 0.5) / factor.scale)
        sums += place - 3...place + 3
        sums.append(.random(in: .min ... .max, using: &random))
      }
      let difference = difference(multiplier, factor, sums: sums)
      #expect(difference == nil, "\(multiplier)")
    }
  }

  @Test("outputs are the reference's, of every sum within a byte's reach", arguments: [1, 6, 9])
  func everySum(shift: Int32) throws {
    let multiplier = factor(0x5A82_799A, shift: 0 - shift)
    let factor = try #require(DoublePrecisionFactor(multiplier))
    let limit = Int32(257 / factor.scale)
    #expect(difference(multiplier, factor, sums: 0 - limit...limit) == nil)
  }

  @Test("factors with halves, small ones, and those that do not shift right are refused")
  func refused() {
    let refused = [
      (0, 0), (1 << 30, -1), (1 << 30, -9), (0x5A82_799A, -14), (0x5A82_799A, 0), (0x5A82_799A, 2),
    ]
    for (mantissa, shift) in refused {
      #expect(
        DoublePrecisionFactor(factor(Int32(mantissa), shift: Int32(shift))) == nil, "\(mantissa) \(shift)")
    }
    // Of halves the reference makes something else.
    let half = factor(1 << 30, shift: -3)
    let sums = -4_000...4_000 as ClosedRange<Int32>
    let offset = exp2(-4.0)
    let different = sums.filter {
      let product = Double($0) / 16
      return (product + Double(signOf: product, magnitudeOf: offset)).rounded() != Double(half.apply($0))
    }
    #expect(!different.isEmpty)
  }
}
