// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

@Suite("Requantization")
struct RequantizationTests {
  static let edges: [Int32] = [
    .min, .min + 1, -(1 << 30) - 1, -(1 << 30), -65_537, -65_536, -257, -3, -2, -1, 0, 1, 2, 3, 127, 128, 255,
    65_535, 65_536, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, .max - 1, .max,
  ]

  @Test("the doubling high product is the exact one, rounded")
  func highMultiply() {
    var random = SeededGenerator(seed: 1)
    var pairs = Self.edges.flatMap { a in Self.edges.map { (a, $0) } }
    for _ in 0..<50_000 {
      pairs.append((.random(in: .min ... .max, using: &random), .random(in: .min ... .max, using: &random)))
    }
    // Ties: products that are odd multiples of 2³⁰.
    for odd in stride(from: Int32(-31), through: 31, by: 2) { pairs.append((odd << 15, 1 << 15)) }
    for (a, b) in pairs {
      #expect(
        saturatingRoundingDoublingHighMultiply(a, b) == ReferenceRounding.doublingHighMultiply(a, b),
        "\(a) · \(b)")
    }
  }

  @Test("the reference's truncating division of a nudged product is the same as rounding halves up")
  func nudgedDivision() {
    var random = SeededGenerator(seed: 2)
    for round in 0..<50_000 {
      let a = round < 64 ? Int32(round - 32) << 15 : Int32.random(in: .min ... .max, using: &random)
      let b = round < 64 ? 1 << 15 : Int32.random(in: .min ... .max, using: &random)
      let product = Int64(a) * Int64(b)
      let nudged = product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))
      #expect(Int64(ReferenceRounding.doublingHighMultiply(a, b)) == nudged / (1 << 31), "\(a) · \(b)")
    }
  }

  @Test("division by a power of two rounds halves away from zero", arguments: Int32(0)...31)
  func divide(exponent: Int32) {
    var random = SeededGenerator(seed: UInt64(exponent))
    var values = Self.edges
    for _ in 0..<2_000 { values.append(.random(in: .min ... .max, using: &random)) }
    for odd in -9...9 where exponent > 0 {
      values.append(Int32(truncatingIfNeeded: odd << Int(exponent - 1)))
    }
    for value in values {
      #expect(
        roundingDivideByPowerOfTwo(value, exponent) == ReferenceRounding.divideByPowerOfTwo(value, exponent),
        "\(value) / 2^\(exponent)")
    }
  }

  @Test("a multiplier shifts, multiplies and rounds twice")
  func apply() {
    var random = SeededGenerator(seed: 4)
    for shift in -40...40 {
      let real =
        Double.random(in: 0.5..<1, using: &random)
        * (shift < 0 ? 1 / Double(1 << -shift) : Double(1 << shift))
      for factor in [FixedPointMultiplier(real), FixedPointMultiplier(-real)] {
        #expect((-31...30).contains(factor.shift))
        let values = Self.edges + (0..<300).map { _ in Int32.random(in: .min ... .max, using: &random) }
        for value in values {
          #expect(
            factor.apply(value)
              == ReferenceRounding.multiply(value, value: factor.value, shift: factor.shift),
            "\(value) by \(real)")
        }
      }
    }
  }

  @Test("a multiplier is the nearest 31-bit mantissa with its exponent")
  func quantize() {
    func parts(_ real: Double) -> [Int32] {
      let factor = FixedPointMultiplier(real)
      return [factor.value, factor.shift]
    }
    let half: Int32 = 1 << 30
    #expect(parts(0) == [0, 0])
    #expect(parts(1) == [half, 1])
    #expect(parts(0.5) == [half, 0])
    #expect(parts(0.75) == [half + half / 2, 0])
    #expect(parts(-0.75) == [-half - half / 2, 0])
    // A mantissa that rounds up to 2³¹ is halved, and the exponent raised.
    #expect(parts(1 - 0x1p-40) == [half, 1])
    #expect(parts(1 - 0x1p-31) == [.max, 0])
    // Exactly between two mantissas: away from zero.
    #expect(parts(0.5 + 0x1p-32) == [half + 1, 0])
    #expect(parts(0x1p-32) == [half, -31])
    #expect(parts(0x1p-33) == [0, 0])
    #expect(parts(0x1p29) == [half, 30])
    #expect(parts(0x1p30) == [.max, 30])
    #expect(parts(.greatestFiniteMagnitude) == [.max, 30])
    #expect(parts(.infinity) == [.max, 30])
    #expect(parts(.nan) == [0, 0])
    #expect(parts(.leastNonzeroMagnitude) == [0, 0])
  }

  @Test("a single rounding in double precision sends halves away from zero and saturates")
  func once() {
    #expect(
      ([-3, -1, 1, 3, 5] as [Int32]).map { requantizeOnce($0, scale: 0.5, zeroPoint: 0) } == [
        -2, -1, 1, 2, 3,
      ])
    #expect(requantizeOnce(7 as Int32, scale: 1, zeroPoint: -3) == 4)
    #expect(requantizeOnce(1 as Int32, scale: 0.5.nextDown, zeroPoint: 0) == 0)
    #expect(requantizeOnce(Int32.max, scale: 1e9, zeroPoint: 127) > 1 << 20)
    #expect(requantizeOnce(Int32.min, scale: 1e9, zeroPoint: -128) < -(1 << 20))
  }
}
