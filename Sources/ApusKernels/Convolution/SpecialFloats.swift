// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Infinities and NaN in memory.
package enum SpecialFloats {
  /// Whether there are any among floats of 32 bits, or of 16: all bits of the exponent are set.
  package static func occur(in bytes: RawSpan, areHalves: Bool) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe areHalves
        ? occur(halves: start, count: bytes.count / 2) : occur(floats: start, count: bytes.count / 4)
    }
  }

  private static func occur(floats: UnsafeRawPointer, count: Int) -> Bool {
    // Only an exponent of ones carries into the sign.
    var sums = SIMD8<UInt32>.zero
    for index in 0..<count / 8 {
      let bits = unsafe floats.loadUnaligned(fromByteOffset: 32 &* index, as: SIMD8<UInt32>.self)
      sums |= (bits & 0x7F80_0000) &+ 0x0080_0000
    }
    for index in count & ~7..<count {
      let bits = unsafe floats.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
      sums[0] |= (bits & 0x7F80_0000) &+ 0x0080_0000
    }
    return sums.max() >> 31 == 1
  }

  private static func occur(halves: UnsafeRawPointer, count: Int) -> Bool {
    var sums = SIMD16<UInt16>.zero
    for index in 0..<count / 16 {
      let bits = unsafe halves.loadUnaligned(fromByteOffset: 32 &* index, as: SIMD16<UInt16>.self)
      sums |= (bits & 0x7C00) &+ 0x0400
    }
    for index in count & ~15..<count {
      let bits = unsafe halves.loadUnaligned(fromByteOffset: 2 &* index, as: UInt16.self)
      sums[0] |= (bits & 0x7C00) &+ 0x0400
    }
    return sums.max() >> 15 == 1
  }
}
