// SPDX-License-Identifier: Apache-2.0

/// What makes an output of a sum to which the bias was added.
package enum Epilogue: Hashable, Sendable {
  /// Clamps; infinite bounds clamp nothing.
  case float32(minimum: Float, maximum: Float)
  /// Multiplies with double rounding, adds the zero point, clamps: the reference's convolutions.
  ///
  /// There is one multiplier, or one for each output channel.
  case fixedPoint([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// As `fixedPoint`, but in whole groups of eight output channels the second rounding takes halves up: the reference's
  /// depthwise convolutions with int4 weights.
  case fixedPointUpward([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Multiplies in double precision, rounds once, halves away from zero, adds the zero point, clamps: the
  /// reference's FULLY_CONNECTED.
  ///
  /// There is one scale, or one for each output channel.
  case float64([Double], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Multiplies 64-bit sums with the upper half of each multiplier, rounds once, halves up, clamps: the reference's
  /// rule for int16 activations with a 64-bit bias.
  case reducedFixedPoint([FixedPointMultiplier], minimum: Int32, maximum: Int32)
  /// Multiplies with the scale of the quantized image and that of the weights, adds the float bias, clamps.
  ///
  /// There is one scale of weights, or one for each output channel. Either the product of both scales is the factor, or, where
  /// the weights' is applied first, the sum is multiplied twice and rounded twice: the reference's CONV_2D.
  case hybrid([Float], minimum: Float, maximum: Float, areWeightsFirst: Bool = false)
  /// Leaves the sums as they are.
  case sums

  /// Whether this takes sums of the operands' kind and has a factor for each of `channels`.
  func fits(_ operands: MatrixOperands, channels: Int) -> Bool {
    switch (self, operands) {
    case (.float32, .float32): true
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
