// SPDX-License-Identifier: Apache-2.0

/// The types of a product's operands: activations on the left, weights on the right.
///
/// Zero points are in the range of their type.
@usableFromInline package enum MatrixOperands: Hashable, Sendable {
  /// Floats, summed as floats; the bias is float.
  case float32
  /// Floats that are rounded to bfloat16 where a product reads them, activations and weights alike; the bias and the
  /// outputs are float. ``BFloat16Sum`` defines the sums in each order. Each group has an even number of channels.
  case bfloat16(BFloat16Order)
  /// Unsigned bytes, summed modulo 2³²; the bias is int32, the output uint8.
  case uint8(lhsZeroPoint: Int32, rhsZeroPoint: Int32)
  /// Signed bytes, summed modulo 2³²; the bias is int32, the output int8.
  case int8(lhsZeroPoint: Int32, rhsZeroPoint: Int32)
  /// Unsigned bytes, summed modulo 2³²; the bias is int32, the output int16. The left zero point is in
  /// `-128...255`.
  case uint8ToInt16(lhsZeroPoint: Int32, rhsZeroPoint: Int32)
  /// Signed bytes without zero points, summed modulo 2³²; the output is int32.
  case int8Sums
  /// 16-bit activations with weights of one or two bytes; the output is int16.
  ///
  /// With a bias of eight bytes sums are 64 bits wide; with one of four they wrap at 32, as the reference's do.
  case int16(weightByteCount: Int, biasByteCount: Int)
  /// Float activations and outputs with signed bytes as weights; the bias is float.
  ///
  /// Each image of the batch is quantized to signed bytes at run time, symmetrically or with a zero point.
  case hybrid(isAsymmetric: Bool)

  /// Whether floats are rounded to bfloat16.
  @inlinable package var isBFloat16: Bool { if case .bfloat16 = self { true } else { false } }

  /// How bytes become unsigned, and the zero points of unsigned bytes; nil for other operands.
  @inlinable package var bytes: ByteOperands? {
    switch self {
    case .float32, .bfloat16, .uint8ToInt16, .int8Sums, .int16, .hybrid: nil
    case .uint8(let lhs, let rhs): ByteOperands(signFlip: 0, lhsZeroPoint: lhs, rhsZeroPoint: rhs)
    case .int8(let lhs, let rhs):
      ByteOperands(signFlip: 0x80, lhsZeroPoint: lhs &+ 128, rhsZeroPoint: rhs &+ 128)
    }
  }
}

/// Signed or unsigned bytes as unsigned ones, `byte ^ signFlip`, and the zero points of those.
@usableFromInline package struct ByteOperands: Sendable {
  /// The bits to flip, which makes bytes unsigned.
  @usableFromInline package let signFlip: UInt8
  /// The zero point of the unsigned activations.
  @usableFromInline package let lhsZeroPoint: Int32
  /// The zero point of the unsigned weights.
  @usableFromInline package let rhsZeroPoint: Int32

  /// Bytes that are unsigned after their bits in `signFlip` are flipped, with the zero points of the results.
  @inlinable package init(signFlip: UInt8, lhsZeroPoint: Int32, rhsZeroPoint: Int32) {
    self.signFlip = signFlip
    self.lhsZeroPoint = lhsZeroPoint
    self.rhsZeroPoint = rhsZeroPoint
  }
}
