// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The inner loops of packing, four columns at a time.
extension ProductPacking {
  /// Eight weights from `lane` on, minus their zero point; zeros after the first `count`.
  @inline(__always)
  private func eightTerms(
    _ source: UnsafeRawPointer, _ lane: Int, count: Int, flips: SIMD8<UInt8>, zeroPoints: SIMD8<Int16>
  ) -> SIMD8<Int16> {
    if count == 8 {
      let bytes = unsafe source.loadUnaligned(fromByteOffset: lane, as: SIMD8<UInt8>.self)
      return SIMD8<Int16>(widening: bytes ^ flips) &- zeroPoints
    }
    var bytes: UInt64 = 0
    for index in 0..<count {
      bytes |= UInt64(unsafe source.load(fromByteOffset: lane &+ index, as: UInt8.self)) << UInt64(8 &* index)
    }
    let values =
      SIMD8<Int16>(widening: unsafe unsafeBitCast(bytes, to: SIMD8<UInt8>.self) ^ flips) &- zeroPoints
    let indices = SIMD8<Int16>(0, 1, 2, 3, 4, 5, 6, 7)
    return values & ((indices &- Int16(truncatingIfNeeded: count)) &>> 15)
  }

  /// Four neighboring lanes of a panel, which are packed together.
  @safe struct Quad {
    /// The lanes' place in the first K-step.
    let target: UnsafeMutableRawPointer
    let stepByteCount: Int
    /// Bytes between the floats for `k` and for `k + 2`, with even `k`.
    let pairByteCount: Int
    /// The first weight of each lane's column.
    var sources = SIMD4<Int>()
    /// All ones for lanes with a column, otherwise zero.
    var masks = SIMD4<Int16>()
  }

  /// The lanes of a tap that are packed between two looks at the clock; a multiple of 16.
  private static let lanesTogether = 1 << 18

  /// Packs four columns of byte weights, as bytes or as `int16`, and returns the sum of each column; nil if packing must end.
  func packWeights(
    _ weights: UnsafeRawPointer, _ operands: ByteOperands, _ quad: Quad, stoppedBy packed: PackedWeights
  ) -> SIMD4<Int32>? {
    let flips = SIMD8<UInt8>(repeating: operands.signFlip)
    let zeroPoints = SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: operands.rhsZeroPoint))
    let least = SIMD8(repeating: Int16(truncatingIfNeeded: terms.bounds.lowerBound))
    let most = SIMD8(repeating: Int16(truncatingIfNeeded: terms.bounds.upperBound))
    let ones = SIMD8<Int16>(repeating: 1)
    let (depthPerTap, stepByteCount) = (plan.depthPerTap, quad.stepByteCount)
    let (areNarrow, areWords, mayHaveExtras) = (plan.hasNarrowWeights, terms.areWords, terms.mayHaveExtras)
    let (sources, masks) = (quad.sources, quad.masks)
    let (mask0, mask1, mask2, mask3) = (
      SIMD8(repeating: masks[0]), SIMD8(repeating: masks[1]), SIMD8(repeating: masks[2]),
      SIMD8(repeating: masks[3])
    )
    var (sums0, sums1, sums2, sums3) = (SIMD4<Int32>(), SIMD4<Int32>(), SIMD4<Int32>(), SIMD4<Int32>())
    var target = unsafe quad.target
    // Subtracting 128 from a byte is flipping its highest bit; no other zero point is that simple.
    let arePlain =
      !areNarrow && !areWords && !mayHaveExtras && operands.rhsZeroPoint == 128
      && masks == SIMD4(repeating: -1)
    var plainCount: Int32 = 0
    let (plainFlips, turns) = (
      SIMD16<UInt8>(repeating: operands.signFlip), SIMD16<UInt8>(repeating: operands.signFlip ^ 0x80)
    )
    let lowBytes = SIMD8<Int16>(repeating: 0xFF)
    for tap in 0..<plan.tapCount {
      let start = unsafe weights + tap &* depthPerTap
      var lane = 0
      var end = min(depthPerTap, Self.lanesTogether)
      // 16 bytes at a time: four K-steps.
      while arePlain {
        if lane &+ 16 > end {
          guard end < depthPerTap else { break }
          if packed.mustStop { return nil }
          end = min(depthPerTap, end &+ Self.lanesTogether)
          continue
        }
        @inline(__always)
        func bytes(_ source: Int) -> SIMD16<UInt8> {
          unsafe start.loadUnaligned(fromByteOffset: source &+ lane, as: SIMD16<UInt8>.self)
        }
        @inline(__always)
        func sums(_ bytes: SIMD16<UInt8>) -> SIMD4<Int32> {
          let pairs = unsafe unsafeBitCast(bytes ^ plainFlips, to: SIMD8<Int16>.self)
          return pairSums((pairs & lowBytes) &+ ((pairs &>> 8) & lowBytes), ones)
        }
        @inline(__always)
        func steps(_ bytes: SIMD16<UInt8>) -> SIMD4<UInt32> {
          unsafe unsafeBitCast(bytes ^ turns, to: SIMD4<UInt32>.self)
        }
        let (bytes0, bytes1) = (bytes(sources[0]), bytes(sources[1]))
        let (bytes2, bytes3) = (bytes(sources[2]), bytes(sources[3]))
        sums0 &+= sums(bytes0)
        sums1 &+= sums(bytes1)
        sums2 &+= sums(bytes2)
        sums3 &+= sums(bytes3)
        let rows = Transposed(steps(bytes0), steps(bytes1), steps(bytes2), steps(bytes3))
        for step in 0..<4 {
          unsafe target.storeBytes(of: rows[step], as: SIMD4<UInt32>.self)
          unsafe target += stepByteCount
        }
        lane &+= 16
        plainCount &+= 16
      }
      // Eight values at a time: four K-steps of `int16`, or two of bytes.
      while lane < depthPerTap {
        if lane >= end {
          if packed.mustStop { return nil }
          end = min(depthPerTap, end &+ Self.lanesTogether)
        }
        let count = min(8, depthPerTap &- lane)
        @inline(__always)
        func terms(_ source: Int) -> SIMD8<Int16> {
          unsafe eightTerms(start + source, lane, count: count, flips: flips, zeroPoints: zeroPoints)
        }
        var (values0, values1) = (terms(sources[0]) & mask0, terms(sources[1]) & mask1)
        var (values2, values3) = (terms(sources[2]) & mask2, terms(sources[3]) & mask3)
        sums0 &+= pairSums(values0, ones)
        sums1 &+= pairSums(values1, ones)
        sums2 &+= pairSums(values2, ones)
        sums3 &+= pairSums(values3, ones)
        lane &+= 8
        if mayHaveExtras {
          values0 = values0.bounded(least, most)
          values1 = values1.bounded(least, most)
          values2 = values2.bounded(least, most)
          values3 = values3.bounded(least, most)
        }
        if areNarrow {
          let rows = Transposed(
            SIMD4(bytePairs: values0), SIMD4(bytePairs: values1), SIMD4(bytePairs: values2),
            SIMD4(bytePairs: values3))
          for step in 0..<(count &+ 1) / 2 {
            unsafe target.storeBytes(of: rows[step], as: SIMD4<UInt16>.self)
            unsafe target += stepByteCount
          }
        } else if areWords {
          let rows = Transposed(
            SIMD4(bits: values0), SIMD4(bits: values1), SIMD4(bits: values2), SIMD4(bits: values3))
          for step in 0..<(count &+ 1) / 2 {
            unsafe target.storeBytes(of: rows[step], as: SIMD4<UInt32>.self)
            unsafe target += stepByteCount
          }
        } else {
          let (a, b) = (SIMD2(byteQuads: values0), SIMD2(byteQuads: values1))
          let (c, d) = (SIMD2(byteQuads: values2), SIMD2(byteQuads: values3))
          unsafe target.storeBytes(of: SIMD4(a[0], b[0], c[0], d[0]), as: SIMD4<UInt32>.self)
          unsafe target += stepByteCount
          guard count > 4 else { continue }
          unsafe target.storeBytes(of: SIMD4(a[1], b[1], c[1], d[1]), as: SIMD4<UInt32>.self)
          unsafe target += stepByteCount
        }
      }
    }
    let sums = SIMD4(sums0.wrappedSum(), sums1.wrappedSum(), sums2.wrappedSum(), sums3.wrappedSum())
    return sums &- SIMD4(repeating: 128 &* plainCount)
  }

  /// The sum of |weight − zero point| over a column that starts at `source`; less if packing must end.
  func magnitude(
    _ weights: UnsafeRawPointer, _ operands: ByteOperands, source: Int, stoppedBy packed: PackedWeights
  ) -> Int {
    let end = source &+ convolution.depth
    let zero = UInt8(truncatingIfNeeded: operands.rhsZeroPoint) ^ operands.signFlip
    let zeros = SIMD2(repeating: UInt64(zero) &* 0x0101_0101_0101_0101)
    var sum = 0
    var next = source
    while next < end {
      if (next &- source) & 0xFFFFF == 0xFFFF0, packed.mustStop { break }
      let last = min(next &+ 16, end)
      // Most columns that get here are all zero point.
      if next &+ 16 > end
        || (unsafe weights.loadUnaligned(fromByteOffset: next, as: SIMD2<UInt64>.self)) != zeros
      {
        for index in next..<last { sum &+= Int(abs(unsafe terms.value(weights, index, operands))) }
      }
      next = last
    }
    return sum
  }

  /// Packs a range of K, from an even `k` on, for four columns of floats. Lanes without a column keep their
  /// zeros.
  func packFloats(_ weights: UnsafeRawPointer, _ quad: Quad, terms: Range<Int>) {
    let (end, stepByteCount, pairByteCount) = (terms.upperBound, quad.stepByteCount, quad.pairByteCount)
    var term = terms.lowerBound
    if quad.masks == SIMD4(repeating: -1) {
      @inline(__always)
      func four(_ index: Int) -> SIMD4<UInt32> {
        unsafe weights.loadUnaligned(
          fromByteOffset: (quad.sources[index] &+ term) &* 4, as: SIMD4<UInt32>.self)
      }
      var target = unsafe quad.target + term / 2 &* pairByteCount
      while term &+ 4 <= end {
        let rows = Transposed(four(0), four(1), four(2), four(3))
        for row in 0..<4 {
          unsafe target.storeBytes(
            of: rows[row], toByteOffset: row / 2 &* pairByteCount &+ row % 2 &* stepByteCount,
            as: SIMD4<UInt32>.self)
        }
        unsafe target += 2 &* pairByteCount
        term &+= 4
      }
    }
    while term < end {
      let place = unsafe quad.target + (term / 2 &* pairByteCount &+ term % 2 &* stepByteCount)
      for lane in 0..<4 where quad.masks[lane] != 0 {
        let bits = unsafe weights.loadUnaligned(
          fromByteOffset: (quad.sources[lane] &+ term) &* 4, as: UInt32.self)
        unsafe place.storeBytes(of: bits, toByteOffset: 4 &* lane, as: UInt32.self)
      }
      term &+= 1
    }
  }
}
