// SPDX-License-Identifier: Apache-2.0

/// Generated code that quantizes floats, for ``HybridQuantization``: whole steps of them.
struct QuantizationCode {
  /// Values of a step.
  static let step = 32

  /// How a row of values is quantized.
  struct RowParameters: CodeArguments {
    var inverse: Float
    var least: Float
    var most: Float
    /// What is added to make bytes.
    var zeroPoint: Int32
    /// The lowest byte, four times.
    var leastBytes: UInt32
  }

  /// What the functions are called with.
  struct Arguments: CodeArguments {
    var values: Int
    /// Of a row; rows follow each other.
    var steps: Int
    var rows: Int
    /// Two floats for each row, or words or bytes.
    var result: Int
    /// Those of each row.
    var parameters = 0
    var sign: Float = -0.0
    /// What is added to magnitudes before their fraction is dropped: halves are rounded up, and nothing below them is.
    var belowHalf = (0.5 as Float).nextDown
    /// Which dwords of packed bytes follow each other.
    var order: UInt64 = 0x0703_0602_0501_0400
    /// The same of twice as many.
    var wideOrder = SIMD2<UInt64>(0x0D09_0501_0C08_0400, 0x0F0B_0703_0E0A_0602)
    /// What the search for extremes begins with.
    var infinity = Float.infinity
    var negativeInfinity = -Float.infinity
  }

  /// Finds the least and the greatest value of each row.
  let extremes: CodeFunction<Arguments>
  /// Makes differences from the zero point, as words, or unsigned bytes: differences to which their zero point is added again.
  let lanes: CodeFunction<Arguments>

  /// The least and the greatest value of each row, of at least one step; NaN is passed over.
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
