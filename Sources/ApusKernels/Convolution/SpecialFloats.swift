// SPDX-License-Identifier: Apache-2.0

/// Infinities and NaN in memory.
package enum SpecialFloats {
  /// Whether there are any among floats of 32 bits, or of 16.
  package static func occur(in bytes: RawSpan, areHalves: Bool) -> Bool {
    // All bits of the exponent are set.
    areHalves
      ? greatest(of: bytes, mask: Int16(0x7C00)) == 0x7C00
      : greatest(of: bytes, mask: Int32(0x7F80_0000)) == 0x7F80_0000
  }

  /// The greatest number that some bits of any element make.
  private static func greatest<Bits: FixedWidthInteger & BitwiseCopyable>(
    of bytes: RawSpan, mask: Bits
  ) -> Bits {
    unsafe bytes.withUnsafeBytes { bytes in
      let width = MemoryLayout<Bits>.size
      var result: Bits = 0
      for index in 0..<bytes.count / width {
        result = max(
          result, unsafe bytes.loadUnaligned(fromByteOffset: index &* width, as: Bits.self) & mask)
      }
      return result
    }
  }
}
