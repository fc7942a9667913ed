/// The types of a product's operands: activations on the left, weights on the right.
///
/// A zero point lies in the range of its type.
package enum MatrixOperands: Hashable, Sendable {
  /// Floats, summed as floats; the bias is float.
  case float32
  /// Unsigned bytes, summed modulo 2³²; the bias is int32, the output uint8.
  case uint8(lhsZeroPoint: Int32, rhsZeroPoint: Int32)
  /// Signed bytes, summed modulo 2³²; the bias is int32, the output int8.
  case int8(lhsZeroPoint: Int32, rhsZeroPoint: Int32)

  /// The size of one element of any operand or of the output.
  package var elementByteCount: Int {
    switch self {
    case .float32: 4
    case .uint8, .int8: 1
    }
  }

  /// How bytes become unsigned, and the zero points of those; nil for floats.
  var bytes: ByteOperands? {
    switch self {
    case .float32: nil
    case .uint8(let lhs, let rhs): ByteOperands(signFlip: 0, lhsZeroPoint: lhs, rhsZeroPoint: rhs)
    case .int8(let lhs, let rhs):
      ByteOperands(signFlip: 0x80, lhsZeroPoint: lhs &+ 128, rhsZeroPoint: rhs &+ 128)
    }
  }
}

/// Both kinds of byte as unsigned ones: `byte ^ signFlip`, with zero points to match.
struct ByteOperands {
  let signFlip: UInt8
  let lhsZeroPoint: Int32
  let rhsZeroPoint: Int32
}
