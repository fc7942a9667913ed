/// What makes an output of a sum to which the bias was added.
package enum Epilogue: Hashable, Sendable {
  /// Clamps; infinite bounds clamp nothing.
  case float32(minimum: Float, maximum: Float)
  /// Multiplies with double rounding, adds the zero point, clamps: the reference's convolutions.
  ///
  /// There is one multiplier, or one for each output channel.
  case fixedPoint([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Multiplies in double precision, rounds once, halves away from zero, adds the zero point, clamps: the
  /// reference's FULLY_CONNECTED.
  ///
  /// There is one scale, or one for each output channel.
  case float64([Double], zeroPoint: Int32, minimum: Int32, maximum: Int32)

  /// Whether this takes sums of the operands' kind and has a factor for each of `channels`.
  func fits(_ operands: MatrixOperands, channels: Int) -> Bool {
    switch (self, operands) {
    case (.float32, .float32): true
    case (.fixedPoint(let factors, _, _, _), .uint8), (.fixedPoint(let factors, _, _, _), .int8):
      factors.count == 1 || factors.count == channels
    case (.float64(let factors, _, _, _), .uint8), (.float64(let factors, _, _, _), .int8):
      factors.count == 1 || factors.count == channels
    default: false
    }
  }
}
