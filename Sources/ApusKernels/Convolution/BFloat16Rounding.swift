// SPDX-License-Identifier: Apache-2.0

/// Rounding of floats to bfloat16, the upper half of a float: to nearest, ties to even.
///
/// Numbers too small for a normal float become zero with their sign, as processors that multiply bfloat16 take
/// them. Large numbers may become infinite. NaN stays NaN.
@usableFromInline package enum BFloat16Rounding {
  /// The bits of the bfloat16 nearest to a float.
  @inlinable @inline(__always)
  package static func bits(_ value: Float) -> UInt16 {
    UInt16(truncatingIfNeeded: rounded(SIMD4(repeating: value.bitPattern))[0] &>> 16)
  }

  /// The bfloat16 nearest to a float, as a float.
  @inlinable @inline(__always)
  package static func rounded(_ value: Float) -> Float { Float(bitPattern: UInt32(bits(value)) &<< 16) }

  /// The bits of four floats, rounded to bfloat16.
  @inlinable @inline(__always)
  package static func rounded(_ bits: SIMD4<UInt32>) -> SIMD4<UInt32> {
    let signs = bits & 0x8000_0000
    // Without signs, both are in the range of `Int32`, whose comparison is one instruction.
    let magnitudes = SIMD4<Int32>(truncatingIfNeeded: bits & 0x7FFF_FFFF)
    let half = SIMD4<UInt32>(repeating: 0x7FFF)
    let rounded = (bits &+ half &+ ((bits &>> 16) & 1)) & 0xFFFF_0000
    return rounded.replacing(with: signs, where: magnitudes .< 0x0080_0000)
      .replacing(with: (bits & 0xFFFF_0000) | 0x0040_0000, where: magnitudes .> 0x7F80_0000)
  }
}
