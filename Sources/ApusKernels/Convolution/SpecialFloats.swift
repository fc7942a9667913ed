// SPDX-License-Identifier: Apache-2.0

/// Infinities and NaN in memory.
package enum SpecialFloats {
  /// Whether there are any among floats of 32 bits, or of 16: all bits of the exponent are set.
  package static func occur(in bytes: RawSpan, areHalves: Bool) -> Bool {
    areHalves
      ? occur(in: bytes, exponents: 0x7C00_7C00, lowestBits: 0x0400_0400)
      : occur(in: bytes, exponents: 0x7F80_0000, lowestBits: 0x0080_0000)
  }

  /// Looks at eight words at a time, each one float or two halves.
  ///
  /// - Parameters:
  ///   - exponents: The bits of a word that are exponents.
  ///   - lowestBits: The lowest bit of each exponent.
  private static func occur(in bytes: RawSpan, exponents: UInt32, lowestBits: UInt32) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      // Only an exponent of ones carries into the sign, and none beyond it.
      var sums = SIMD8<UInt32>.zero
      let whole = bytes.count & ~31
      for offset in stride(from: 0, to: whole, by: 32) {
        sums |=
          unsafe (start.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt32>.self) & exponents)
          &+ lowestBits
      }
      var rest = SIMD8<UInt32>.zero
      unsafe withUnsafeMutableBytes(of: &rest) {
        unsafe $0.baseAddress?.copyMemory(from: start + whole, byteCount: bytes.count &- whole)
      }
      sums |= (rest & exponents) &+ lowestBits
      return sums & (exponents &+ lowestBits) != .zero
    }
  }
}
