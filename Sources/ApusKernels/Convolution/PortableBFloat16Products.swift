// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Products of floats that are rounded to bfloat16: the sums of ``BFloat16Sum``, to the bit.
enum PortableBFloat16Products: PortableFloatProducts {
  static var name: String { "bfloat16" }
  static var layoutName: String { "portable-bfloat16" }
  static var readsInputAsItIs: Bool { false }
  static var conversion: RoundedFloats { RoundedFloats() }

  static func requireFit(_ convolution: Convolution) throws(Decline) { try convolution.requirePairs() }
  static func summation(_ tiling: ConvolutionTiling) -> String { "bfloat16" }
  @inline(__always) static func weight(_ value: Float) -> UInt16 { BFloat16Rounding.bits(value) }

  static func multiplyPanel(
    _ rows: UnsafeRawPointer, rowCount: Int, rowStride: Int, terms: Int, part: Int,
    _ panel: UnsafePointer<UInt16>, _ sums: UnsafeMutablePointer<Float>, sumStride: Int, accumulates: Bool
  ) {
    for row in 0..<rowCount {
      let source = unsafe (rows + row &* rowStride &* 4).assumingMemoryBound(to: Float.self)
      let target = unsafe sums + row &* sumStride
      if part == 0 {
        unsafe multiply(source, terms: terms, panel, target, continues: accumulates)
      } else {
        unsafe multiply(source, terms: terms, part: part, panel, target, continues: accumulates)
      }
    }
  }

  /// Multiplies a row of an even number of terms with eight columns; sums continue those of the terms before, or
  /// start from zero.
  private static func multiply(
    _ row: UnsafePointer<Float>, terms: Int, _ panel: UnsafePointer<UInt16>,
    _ sums: UnsafeMutablePointer<Float>,
    continues: Bool
  ) {
    var low = unsafe continues ? load4(sums, 0) : SIMD4<Float>()
    var high = unsafe continues ? load4(sums, 4) : SIMD4<Float>()
    var pair = 0
    while pair < terms {
      for turn in 0..<2 {
        let term = pair &+ 1 &- turn
        let value = unsafe SIMD4(repeating: row[term])
        let bits = unsafe UnsafeRawPointer(panel + term &* 8).loadUnaligned(as: SIMD8<UInt16>.self)
        let words = SIMD8<UInt32>(truncatingIfNeeded: bits) &<< 16
        low = BFloat16Sum.adding(value, unsafe unsafeBitCast(words.lowHalf, to: SIMD4<Float>.self), to: low)
        high = BFloat16Sum.adding(
          value, unsafe unsafeBitCast(words.highHalf, to: SIMD4<Float>.self), to: high)
      }
      pair &+= 2
    }
    unsafe UnsafeMutableRawPointer(sums).storeBytes(of: low, as: SIMD4<Float>.self)
    unsafe UnsafeMutableRawPointer(sums + 4).storeBytes(of: high, as: SIMD4<Float>.self)
  }

  /// Multiplies a row of whole parts with eight columns; sums continue those of the parts before, or start from zero.
  private static func multiply(
    _ row: UnsafePointer<Float>, terms: Int, part: Int, _ panel: UnsafePointer<UInt16>,
    _ sums: UnsafeMutablePointer<Float>, continues: Bool
  ) {
    for half in [0, 4] {
      var sum = unsafe continues ? load4(sums, half) : SIMD4<Float>()
      var first = 0
      while first < terms {
        var (even, odd) = (SIMD4<Float>(), SIMD4<Float>())
        for term in stride(from: first, to: first &+ part, by: 2) {
          unsafe even = BFloat16Sum.adding(
            SIMD4(repeating: row[term]), weights(panel + term &* 8 + half), to: even)
          unsafe odd = BFloat16Sum.adding(
            SIMD4(repeating: row[term &+ 1]), weights(panel + (term &+ 1) &* 8 + half), to: odd)
        }
        sum = BFloat16Sum.adding(sum, BFloat16Sum.adding(even, odd))
        first &+= part
      }
      unsafe UnsafeMutableRawPointer(sums + half).storeBytes(of: sum, as: SIMD4<Float>.self)
    }
  }

  /// Four weights as floats.
  @inline(__always)
  private static func weights(_ bits: UnsafePointer<UInt16>) -> SIMD4<Float> {
    let bits = unsafe UnsafeRawPointer(bits).loadUnaligned(as: SIMD4<UInt16>.self)
    return unsafe unsafeBitCast(SIMD4<UInt32>(truncatingIfNeeded: bits) &<< 16, to: SIMD4<Float>.self)
  }
}
