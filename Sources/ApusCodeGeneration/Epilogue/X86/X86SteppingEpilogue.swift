// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The layout of fixed-point factors of any kind.
struct X86SteppingFactors {
  /// Arrays with one 32-bit lane per column: factors; the factors of odd columns in the lanes of the even
  /// ones before them; right shifts minus one; 1 if there is a right shift, otherwise 0; left shifts.
  let multipliers: Int
  let oddMultipliers: Int
  let shifts: Int
  let roundings: Int
  let leftShifts: Int
  /// 2³⁰ in 64-bit lanes.
  let half: Int
  /// The zero point in 32-bit lanes.
  let zeroPoint: Int

  init(_ layout: X86FactorLayout) {
    multipliers = layout.array(0)
    oddMultipliers = layout.array(1)
    shifts = layout.array(2)
    roundings = layout.array(3)
    leftShifts = layout.array(4)
    half = layout.constant
    zeroPoint = layout.secondConstant
  }

  /// Writes the factors.
  func fill(_ block: X86FactorBlock, _ factors: [FixedPointMultiplier], zeroPoint: Int32) {
    for lane in 0..<8 { block.store(1 << 30 as Int64, at: half + 8 * lane) }
    for lane in 0..<16 { block.store(zeroPoint, at: self.zeroPoint + 4 * lane) }
    block.forEachLane(factors) { lane, factor in
      let shift = Int32(truncatingIfNeeded: min(31, max(0, 0 - factor.shift)))
      let (bits, place) = (UInt32(bitPattern: factor.value), 4 * lane)
      block.store(bits, at: multipliers + place)
      if lane % 2 == 1 { block.store(bits, at: oddMultipliers + place - 4) }
      block.store(max(0, shift - 1), at: shifts + place)
      block.store(min(1, shift), at: roundings + place)
      block.store(Int32(truncatingIfNeeded: max(0, factor.shift)), at: leftShifts + place)
    }
  }
}

/// The epilogue of bytes for any sum and any factor, up to 32-bit outputs.
extension X86EpilogueGenerator {
  /// Rescales one vector of columns by any fixed-point factors, with the reference's two roundings, and adds
  /// the zero point.
  ///
  /// `x` may first be shifted left, and wraps as the reference's does. `|x·m|` is at most 2³¹·(2³¹ − 1), so
  /// the product with its rounding takes 63 bits, and `y`, minus one if it is negative, 32. The second
  /// rounding takes two shifts, `(((y − (y < 0)) >> (e − 1)) + 1) >> 1`, because `y + 2ᵉ⁻¹` might not fit in
  /// 32 bits. If `e` is zero, the ones and `e − 1` are all replaced by zero, and only the product is rounded.
  func rescale(_ a: inout X86Assembler, vector: Int) {
    let layout = X86SteppingFactors(X86FactorLayout(target))
    let offset = vector * width.byteCount
    let (first, second) = (free(0), free(1))
    let even = factor(&a, width, 2, layout.multipliers + offset)
    let odd = factor(&a, width, 3, layout.oddMultipliers + offset)
    let one = factor(&a, width, 4, layout.roundings + offset)
    let shifts = factor(&a, width, 5, layout.shifts + offset)
    let half = factor(&a, width, 6, layout.half)
    for row in 0..<rowCount {
      let value = sum(row, vector)
      a.vector(.vpsllvd, width, value, value, .init(.rdx, layout.leftShifts + offset))
      a.shift(.shiftQuads, digit: 2, width, second, value, by: 32)
      a.vector(.vpmuldq, width, first, value, even)
      a.vector(.vpmuldq, width, second, second, odd)
      a.vector(.vpaddq, width, first, first, half)
      a.vector(.vpaddq, width, second, second, half)
      a.shift(.shiftQuads, digit: 2, width, first, first, by: 31)
      a.vector(.vpaddq, width, second, second, second)
      if target == .avx512 {
        a.vector(.vpblendmd, width, value, second, first, mask: .init(1))
      } else {
        a.vector(.vpblendd, width, value, first, second, immediate: 0xAA)
      }
      a.shift(.shiftDoubles, digit: 2, width, first, value, by: 31)
      a.vector(.vpminsd, width, first, first, one)
      a.vector(.vpsubd, width, value, value, first)
      a.vector(.vpsravd, width, value, value, shifts)
      a.vector(.vpaddd, width, value, value, one)
      a.vector(.vpsravd, width, value, value, one)
      a.vector(.vpaddd, width, value, value, .init(.rdx, layout.zeroPoint))
    }
  }
}
