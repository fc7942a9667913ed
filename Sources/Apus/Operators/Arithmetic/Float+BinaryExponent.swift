// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Float {
  /// The exponent of a power of two, within a tolerance of 0.001; nil for other numbers.
  var roundedBinaryExponent: Int? {
    guard isFinite, self > 0 else { return nil }
    // Within the tolerance of a power of two, the nearest one is that of the significand or the next.
    let exponent = significand < 1.5 ? Int(self.exponent) : Int(self.exponent) + 1
    let ratio = Double(self) / Double(sign: .plus, exponent: exponent, significand: 1)
    return abs(ratio - 1) < 0.00069338 ? exponent : nil
  }
}
