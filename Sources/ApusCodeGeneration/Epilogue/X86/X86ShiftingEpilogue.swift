// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The layout of fixed-point factors that all shift right and are not negative.
struct X86ShiftingFactors {
  /// Arrays with one 32-bit lane per column: doubled factors; the doubled factors of odd columns in the lanes
  /// of the even ones before them; and shifts.
  let multipliers: Int
  let oddMultipliers: Int
  let shifts: Int
  /// Arrays with one 64-bit lane per even and per odd column: the constants added to products.
  let evenOffsets: Int
  let oddOffsets: Int
  /// 2³¹ in 32-bit lanes, which accumulators start from.
  let bias: Int

  init(_ layout: X86FactorLayout) {
    multipliers = layout.array(0)
    oddMultipliers = layout.array(1)
    shifts = layout.array(2)
    evenOffsets = layout.array(3)
    oddOffsets = layout.array(4)
    bias = layout.constant
  }

  /// Writes the factors.
  ///
  /// - Parameter isRectified: whether no output is below the zero point.
  func fill(
    _ block: X86FactorBlock, _ factors: [FixedPointMultiplier], zeroPoint: Int32, isRectified: Bool
  ) {
    for lane in 0..<16 { block.store(1 << 31 as UInt32, at: bias + 4 * lane) }
    block.forEachLane(factors) { lane, factor in
      let shift = min(31, max(0, 0 &- factor.shift))
      let rounding: Int32 = shift > 0 ? 1 &<< (shift &- 1) : 0
      let (bits, place) = (UInt32(bitPattern: factor.value) << 1, 4 * lane)
      block.store(bits, at: multipliers + place)
      if lane & 1 == 1 { block.store(bits, at: oddMultipliers + place - 4) }
      block.store(shift, at: shifts + place)
      // The first rounding's half minus the bias of the sums; above 2³², the other constants: see
      // `rescaleRight`.
      let bias = Int64(factor.value) << 32
      let rest = Int64(rounding) - (isRectified ? 0 : 1) + Int64(zeroPoint) &<< Int64(shift)
      block.store(
        1 << 31 - bias &+ rest << 32,
        at: (lane & 1 == 0 ? evenOffsets : oddOffsets) + place - (lane & 1) * 4)
    }
  }
}

/// The epilogue of bytes with factors that all shift right, up to 32-bit outputs.
extension X86EpilogueGenerator {
  /// The largest magnitude of a sum for which this epilogue is exact: about 2³⁰ more would overflow with the
  /// largest rounding constant or zero point. Converters clip the biases of unused channels to 2³⁰.
  static let sumLimit = 3 << 29 - 1 << 22
  /// The maximum right shift, as a negative number; larger ones would overflow with the zero point.
  static let minimumShift: Int32 = -21

  /// Whether ``Rescaling/right`` supports these factors.
  static func shiftRight(_ factors: [FixedPointMultiplier]) -> Bool {
    factors.allSatisfy { minimumShift...(-1) ~= $0.shift && $0.value >= 0 }
  }

  /// Rescales one vector of columns by factors that shift right, with the reference's two roundings, and adds
  /// the zero point.
  ///
  /// The reference rounds `x·m / 2³¹` to the nearest integer `y`, halves upwards, then `y / 2ᵉ`, halves away
  /// from zero: `(y + 2ᵉ⁻¹ − (y < 0)) >> e`. The caller guarantees that `|x|` is at most ``sumLimit``, so
  /// that nothing here overflows.
  ///
  /// Accumulators start from 2³¹. So as unsigned numbers they are not negative, and `2m` may use 32 bits: the
  /// upper half of `(x + 2³¹)·2m + c` is `y` plus a multiple of 2³² in `c`. The constant `c` subtracts the
  /// 2³¹ again and adds the rounding, minus one, and the zero point, `z·2ᵉ`. One must still be added if `y`
  /// is not negative. The highest bit of `x` tells that: `x` is negative and `y` zero only if the one makes
  /// no difference. If no output is below the zero point, the one is part of the constant: it could only
  /// raise results for negative `y`, and raises none of them above the zero point.
  func rescaleRight(_ a: inout X86Assembler, vector: Int) {
    loadFactors(&a, vector: vector)
    for row in 0..<rowCount { rescaleRight(&a, row: row, vector: vector) }
  }

  /// The position of a vector's factors: of even and odd columns, the constants added to both, and the
  /// shifts.
  private func rightFactor(_ index: Int, _ vector: Int) -> Int {
    let layout = X86ShiftingFactors(X86FactorLayout(target))
    let start =
      switch index {
      case 0: layout.multipliers
      case 1: layout.oddMultipliers
      case 2: layout.evenOffsets
      case 3: layout.oddOffsets
      default: layout.shifts
      }
    return start + vector * width.byteCount
  }

  /// Loads a vector's factors if there are registers for them.
  func loadFactors(_ a: inout X86Assembler, vector: Int) {
    for index in 0..<5 { _ = factor(&a, width(vector), 2 + index, rightFactor(index, vector)) }
  }

  /// Rescales one row of a vector of columns by factors that shift right, after ``loadFactors(_:vector:)``.
  func rescaleRight(_ a: inout X86Assembler, row: Int, vector: Int) {
    func factor(_ index: Int) -> X86Assembler.Operand {
      target == .avx512 ? .register(free(2 + index)) : .memory(.init(.rdx, rightFactor(index, vector)))
    }
    let width = width(vector)
    let (value, first, second) = (sum(row, vector), free(0), free(1))
    a.shift(.shiftQuads, digit: 2, width, second, value, by: 32)
    a.vector(.vpmuludq, width, first, value, factor(0))
    a.vector(.vpmuludq, width, second, second, factor(1))
    a.vector(.vpaddq, width, first, first, factor(2))
    a.vector(.vpaddq, width, second, second, factor(3))
    if target == .avx512 {
      a.vector(.vmovshdup, width, second, 0, first, mask: .init(1))
    } else {
      a.shift(.shiftQuads, digit: 2, width, first, first, by: 32)
      a.vector(.vpblendd, width, second, first, second, immediate: 0xAA)
    }
    if !outputs.isRectified {
      a.shift(.shiftDoubles, digit: 2, width, value, value, by: 31)
      a.vector(.vpaddd, width, second, second, value)
    }
    a.vector(.vpsravd, width, value, second, factor(4))
  }
}
