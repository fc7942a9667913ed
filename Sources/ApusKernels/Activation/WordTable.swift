// SPDX-License-Identifier: Apache-2.0

/// A function of `int16` values by linear interpolation between 513 samples.
///
/// The computation is in `Real`, single or double precision, as in the reference.
struct WordTable: Sendable {
  private let table: Table<Int16>

  /// Tabulates a function of real numbers over the range of an `int16` quantization.
  ///
  /// A sample is moved by half the error of interpolation in the middle of its interval.
  init<Real: BinaryFloatingPoint>(
    inputScale: Real, inputZeroPoint: Int, outputScale: Real, outputZeroPoint: Int, _ function: (Real) -> Real
  ) {
    let inputMinimum = inputScale * Real(-32768 - inputZeroPoint)
    let inputMaximum = inputScale * Real(32767 - inputZeroPoint)
    let outputMinimum = outputScale * Real(-32768 - outputZeroPoint)
    let outputMaximum = outputScale * Real(32767 - outputZeroPoint)
    let step = (inputMaximum - inputMinimum) / 512
    let factor = 65536 / (outputMaximum - outputMinimum)
    func rounded(_ value: Real) -> Real { value.rounded(.toNearestOrAwayFromZero) }
    // NaN, where the function overflows, is 0.
    func word(_ value: Real) -> Int16 { value.isNaN ? 0 : Int16(min(max(value, -32768), 32767)) }
    table = Table(count: 513) { index in
      if index == 512 { return word(rounded(function(inputMaximum) * factor)) }
      let position = inputMinimum + Real(index) * step
      let sample = rounded(function(position) * factor)
      let middle = rounded(function(position + step / 2) * factor)
      let next = function(inputMinimum + Real(index + 1) * step) * factor
      let interpolated = rounded((next + sample) / 2)
      return word(sample - rounded((interpolated - middle) / 2))
    }
  }

  /// The function's value.
  @inline(__always)
  subscript(_ value: Int16) -> Int16 {
    let index = 256 &+ Int(value &>> 7)
    let base = unsafe table.values[index]
    let slope = unsafe table.values[index &+ 1] &- base
    let delta = (Int32(slope) &* Int32(value & 0x7F) &+ 64) &>> 7
    return base &+ Int16(truncatingIfNeeded: delta)
  }
}
