// SPDX-License-Identifier: Apache-2.0

/// Means of bytes from their sums in 16 bits, to nearest, halves away from zero: a sum that is moved above zero and made to round,
/// times a factor, shifted right by 16 and `shift` bits. Results have signed bytes moved up by 128.
package struct WordMean {
  /// What moves a sum `s`, all of 16 bits.
  package let rounding: UInt16
  /// What is added to sums below zero: −1 or 0.
  package let halves: UInt16
  package let factor: UInt16
  package let shift: Int

  /// The most bytes whose sums fit.
  package static let mostBytes = 256

  /// For `count` bytes; nil where the product would not be exact.
  ///
  /// With `S` the sum of bytes that are moved up by 128 if they are signed, a mean is `⌊(S + count/2) / count⌋`. Where the bytes'
  /// sum is below zero, halves go the other way: with an even count, one is taken off.
  ///
  /// Sums are at most `n = 255·count + count/2 < 2¹⁶`. The factor is `(2^(16 + shift) + e) / count`, rounded up, so that a
  /// quotient is too large by `n·e / (count · 2^(16 + shift))`. That stays below the next integer if `n·e < 2^(16 + shift)`.
  package init?(count: Int, isSigned: Bool) {
    guard count > 0, count <= Self.mostBytes else { return nil }
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
