// SPDX-License-Identifier: Apache-2.0

/// The factor between integers with different scales, formed in the reference's precision.
///
/// Five functions form theirs where their arithmetic is: HARD_SWISH (`QuantizedHardSwish`), SOFTMAX (`SoftmaxTable` and
/// `WordSoftmax`), LOG_SOFTMAX (`ByteLogSoftmax`) and REDUCE_PROD (`QuantizedReduceProd`). MEAN divides its factor by the
/// number of elements (`FixedPointMultiplier.divided(by:)`).
///
/// `Docs/Quantization.md` has the same rules as a table.
enum ScaleFactor {
  // MARK: Products

  /// `lhs · rhs / output` in double precision: CONV_2D of int8 and int16, FULLY_CONNECTED.
  static func wide(_ lhs: Float, _ rhs: Float, over output: Float) -> Double {
    Double(lhs) * Double(rhs) / Double(output)
  }

  /// `lhs · rhs` in single precision, divided in double: CONV_2D of uint8, BATCH_MATMUL, FULLY_CONNECTED with shuffled weights.
  static func mixed(_ lhs: Float, _ rhs: Float, over output: Float) -> Double {
    Double(lhs * rhs) / Double(output)
  }

  /// `lhs · rhs / output` in single precision: MUL, LEAKY_RELU and PRELU below zero, LSTM, SVDF.
  static func narrow(_ lhs: Float, _ rhs: Float, over output: Float) -> Double {
    Double(lhs * rhs / output)
  }

  /// The factors of a filter with one scale, or with one for each channel, for FULLY_CONNECTED of int16 with int16 weights and
  /// with sparse weights: the product with an only scale is in single precision.
  static func perChannel(_ input: Float, _ filters: [Float], over output: Float) -> [Double] {
    filters.map { filters.count == 1 ? mixed(input, $0, over: output) : wide(input, $0, over: output) }
  }

  // MARK: Quotients

  /// `input / output` in double precision: QUANTIZE of integers, MEAN, SUM.
  static func wide(_ input: Float, over output: Float) -> Double { Double(input) / Double(output) }

  /// `input / output` in single precision: ABS, RELU and its kin, LEAKY_RELU and PRELU above zero.
  static func narrow(_ input: Float, over output: Float) -> Double { Double(input / output) }

  /// `lhs / (rhs · output)` in single precision: DIV.
  static func quotient(_ lhs: Float, by rhs: Float, over output: Float) -> Double {
    Double(lhs / (rhs * output))
  }

  /// `1 / (√input · output)`, the product in single precision: RSQRT.
  static func inverseRoot(_ input: Float, over output: Float) -> Double {
    1 / Double(input.squareRoot() * output)
  }

  /// `2ᵉ · weights / output` in double precision, then rounded to single: peephole weights of LSTM, whose cell has the scale 2ᵉ.
  static func peephole(exponent: Int, _ weights: Float, over output: Float) -> Double {
    Double(Float(Double(sign: .plus, exponent: exponent, significand: 1) * Double(weights) / Double(output)))
  }

  /// `2¹² · bias` in single precision: the gates of LSTM on `uint8`, which have twelve bits after the binary point.
  static func gate(bias: Float) -> Double { Double(4096 * bias) }

  /// `2⁻³⁰ / hidden` in double precision, then rounded to single: the hidden state of LSTM on int8, a product of two numbers with
  /// fifteen bits after the binary point.
  static func hidden(_ hidden: Float) -> Double { Double(Float(0x1p-30 / Double(hidden))) }

  // MARK: Sums

  /// The factors of ADD, SUB and SQUARED_DIFFERENCE: both operands are taken to twice the larger scale first.
  struct Sum {
    let lhs: Double
    let rhs: Double
    private let twiceLarger: Double

    /// The factors of two operands, in double precision.
    init(_ lhs: Float, _ rhs: Float) {
      twiceLarger = Double(2 * max(lhs, rhs))
      self.lhs = Double(lhs) / twiceLarger
      self.rhs = Double(rhs) / twiceLarger
    }

    /// The factor from sums that were shifted left by some bits.
    func result(leftShift: Int32, over output: Float) -> Double {
      twiceLarger / Double(Float(1 << leftShift) * output)
    }

    /// The factor from squares of differences that were shifted left by some bits each.
    func square(leftShift: Int32, over output: Float) -> Double {
      twiceLarger * twiceLarger / Double(Float(1 << (2 * leftShift)) * output)
    }
  }
}
