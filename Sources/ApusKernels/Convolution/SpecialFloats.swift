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
    let mask: UInt32 = 0x7F80_0000
    var found: UInt32 = 0
    for index in 0..<count {
      let bits = unsafe floats.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
      found |= bits & mask == mask ? 1 : 0
    }
    return found != 0
  }

  private static func occur(halves: UnsafeRawPointer, count: Int) -> Bool {
    let mask: UInt16 = 0x7C00
    var found: UInt16 = 0
    for index in 0..<count {
      let bits = unsafe halves.loadUnaligned(fromByteOffset: 2 &* index, as: UInt16.self)
      found |= bits & mask == mask ? 1 : 0
    }
    return found != 0
  }
}
