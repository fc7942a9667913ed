// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that quantizes rows of floats in whole steps, for ``HybridQuantization``.
package struct QuantizationCode: Sendable {
  /// The number of values in a step.
  static let step = 32

  /// The quantization of a row.
  package struct RowParameters: CodeArguments {
    /// The reciprocal of the scale.
    package var inverse: Float
    /// The minimum of the rounded values.
    package var least: Float
    /// The maximum of the rounded values.
    package var most: Float
    /// The zero point, which is added to make bytes.
    package var zeroPoint: Int32
    /// The minimum of the bytes, repeated to fill 32 bits.
    package var minimumBytes: UInt32
  }

  /// The arguments of both functions; addresses and counts.
  package struct Arguments: CodeArguments {
    /// The address of the first row; rows are contiguous.
    package var values: Int
    /// The number of steps per row.
    package var steps: Int
    /// The number of rows.
    package var rows: Int
    /// The address of the results: two floats per row, or `int16` or bytes per value.
    package var result: Int
    /// The address of ``RowParameters`` for each row.
    package var parameters = 0
    /// The sign bit.
    package var sign: Float = -0.0
    /// Added to magnitudes before truncation, which rounds halves away from zero and everything below them toward zero.
    package var belowHalf = (0.5 as Float).nextDown
    /// The order of 32-bit lanes of packed bytes, for 256 bits.
    package var order: UInt64 = 0x0703_0602_0501_0400
    /// The order of 32-bit lanes of packed bytes, for 512 bits.
    package var wideOrder = SIMD2<UInt64>(0x0D09_0501_0C08_0400, 0x0F0B_0703_0E0A_0602)
    /// The initial minimum.
    package var infinity = Float.infinity
    /// The initial maximum.
    package var negativeInfinity = -Float.infinity
  }

  /// Finds the minimum and the maximum of each row.
  package let extremes: CodeFunction<Arguments>
  /// Makes differences from the zero point as `int16`, or unsigned bytes: those differences plus the zero point.
  package let lanes: CodeFunction<Arguments>

  /// The functions for the extremes and for the lanes.
  package init(extremes: CodeFunction<Arguments>, lanes: CodeFunction<Arguments>) {
    self.extremes = extremes
    self.lanes = lanes
  }

  /// Finds the minimum and the maximum of each row, of at least one step, ignoring NaN.
  func findExtremes(
    _ values: UnsafePointer<Float>, steps: Int, rows: Int, to result: UnsafeMutablePointer<SIMD2<Float>>
  ) {
    let arguments = Arguments(
      values: Int(bitPattern: values), steps: steps, rows: rows, result: Int(bitPattern: result))
    extremes.call(arguments)
  }

  /// Writes `value · inverse`, rounded to nearest, halves away from zero, between two integers, as `int16`; or plus a zero
  /// point, as bytes. A product that is NaN becomes the lower integer.
  func fill(
    _ target: UnsafeMutableRawPointer, from values: UnsafePointer<Float>, steps: Int, rows: Int,
    _ parameters: UnsafePointer<RowParameters>
  ) {
    let arguments = Arguments(
      values: Int(bitPattern: values), steps: steps, rows: rows, result: Int(bitPattern: target),
      parameters: Int(bitPattern: parameters))
    lanes.call(arguments)
  }
}
