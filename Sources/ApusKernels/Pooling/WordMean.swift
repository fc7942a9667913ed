// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Means of bytes from 16-bit sums, rounded to nearest with halves away from zero.
///
/// The mean is `((sum + rounding) · factor) >> (16 + shift)`, where `rounding` also moves sums above zero.
/// Means of signed bytes are larger by 128.
package struct WordMean {
  /// Added to each sum, modulo 2¹⁶.
  package let rounding: UInt16
  /// Added to negative sums: −1 or 0.
  package let halves: UInt16
  package let factor: UInt16
  package let shift: Int

  /// The maximum number of bytes whose sum fits.
  package static let maximumBytes = 256

  /// The constants for `count` bytes; nil if the product would not be exact.
  ///
  /// With `S` the sum of bytes, each moved up by 128 if signed, a mean is `⌊(S + count/2) / count⌋`. If the
  /// original sum is negative, halves round the other way: with an even count, 1 is subtracted.
  ///
  /// Sums are at most `n = 255·count + count/2 < 2¹⁶`. The factor is `(2^(16 + shift) + e) / count`, rounded
  /// up, so that a quotient is too large by `n·e / (count · 2^(16 + shift))`. That stays below the next
  /// integer if `n·e < 2^(16 + shift)`.
  package init?(count: Int, isSigned: Bool) {
    guard count > 0, count <= Self.maximumBytes else { return nil }
    let moved = (isSigned ? 128 * count : 0) + count / 2
    guard count > 1 else {
      // (n + 1) · (2¹⁶ − 1) / 2¹⁶ is between n and n + 1.
      (rounding, halves, factor, shift) = (UInt16(moved + 1), 0, .max, 0)
      return
    }
    // 2^shift < count ≤ 2^(shift + 1), so the factor has 16 bits.
    shift = Int.bitWidth - 1 - (count - 1).leadingZeroBitCount
    let power = 1 << (16 + shift)
    let rounded = ceilingQuotient(power, count)
    guard (255 * count + count / 2) * (rounded * count - power) < power else { return nil }
    rounding = UInt16(moved)
    halves = isSigned && count.isMultiple(of: 2) ? .max : 0
    factor = UInt16(rounded)
  }
}
