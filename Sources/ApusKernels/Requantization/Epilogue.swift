// SPDX-License-Identifier: Apache-2.0

/// The computation of an output from a sum that includes the bias.
package enum Epilogue: Hashable, Sendable {
  /// Clamps; infinite bounds clamp nothing.
  case float32(minimum: Float, maximum: Float)
  /// Rescales with double rounding, adds the zero point, clamps: the reference's convolutions.
  ///
  /// There is one multiplier, or one per output channel.
  case fixedPoint([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Rescales with double rounding, adds the zero point, clamps, where in whole groups of eight output
  /// channels the second rounding rounds halves up: the reference's depthwise convolutions with int4 weights.
  case fixedPointUpward([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Rescales in double precision with one rounding, halves away from zero, adds the zero point, clamps: the
  /// reference's FULLY_CONNECTED.
  ///
  /// There is one scale, or one per output channel.
  case float64([Double], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Rescales 64-bit sums by the upper half of each multiplier with one rounding, halves up, clamps: the
  /// reference's rule for int16 activations with a 64-bit bias.
  case reducedFixedPoint([FixedPointMultiplier], minimum: Int32, maximum: Int32)
  /// Multiplies by the scales of the quantized image and of the weights, adds the float bias, clamps.
  ///
  /// There is one scale of weights, or one per output channel. The sum is multiplied by the product of both
  /// scales; or, as in the reference's CONV_2D, first by the weights' scale and then by the image's, with two
  /// roundings.
  case hybrid([Float], minimum: Float, maximum: Float, areWeightsFirst: Bool = false)
  /// Outputs are the sums.
  case sums

  /// Whether this epilogue fits the operands, and has one factor or `channels`.
  func fits(_ operands: MatrixOperands, channels: Int) -> Bool {
    switch (self, operands) {
    case (.float32, .float32), (.float32, .bfloat16): true
    case (.fixedPoint(let factors, _, _, _), .uint8), (.fixedPoint(let factors, _, _, _), .int8):
      factors.count == 1 || factors.count == channels
    case (.fixedPointUpward(let factors, _, _, _), .int8):
      factors.count == 1 || factors.count == channels
    case (.float64(let factors, _, _, _), .uint8), (.float64(let factors, _, _, _), .int8):
      factors.count == 1 || factors.count == channels
    case (.fixedPoint(let factors, _, _, _), .int16(_, 4)),
      (.fixedPoint(let factors, _, _, _), .uint8ToInt16):
      factors.count == 1 || factors.count == channels
    case (.float64(let factors, _, _, _), .int16), (.float64(let factors, _, _, _), .uint8ToInt16):
      factors.count == 1 || factors.count == channels
    case (.reducedFixedPoint(let factors, _, _), .int16):
      factors.count == 1 || factors.count == channels
    case (.hybrid(let scales, _, _, _), .hybrid):
      scales.count == 1 || scales.count == channels
    case (.sums, .int8Sums): true
    default: false
    }
  }
}
