// SPDX-License-Identifier: Apache-2.0

/// What the sums of each row of a matrix begin with, so that weights need not lose their zero point: for products of two tensors of
/// bytes, whose weights come with each run.
///
/// A byte less its zero point may be beyond what a step multiplies, and would need an extra step; to pack those takes longer than to
/// sum rows. With activations `x`, weights `w` and their zero point `z`, Σ x·(w − z) = Σ x·w − z·Σ x.
struct RowTerms {
  private let isSigned: Bool
  private let depth: Int
  /// The zero point of signed weights, negated.
  private let factor: Int32

  /// Nil where weights have no zero point or are packed once, and where the target has no code for it.
  init?(_ convolution: Convolution, _ product: ProductKind, _ target: any CodeTarget) {
    guard convolution.hasTransientWeights, convolution.groups == 1, target.hasRowTerms,
      product == .unsignedBytes || product == .signedBytes, let operands = convolution.operands.bytes,
      operands.rhsZeroPoint != 128
    else { return nil }
    isSigned = operands.signFlip != 0
    depth = convolution.depth
    factor = 128 &- operands.rhsZeroPoint
  }

  /// What weights are packed with.
  func packed(_ operands: ByteOperands) -> ByteOperands {
    ByteOperands(signFlip: operands.signFlip, lhsZeroPoint: operands.lhsZeroPoint, rhsZeroPoint: 128)
  }

  /// Writes the terms of rows that follow each other. Bytes are multiplied as unsigned ones, which are 128 more than signed ones.
  func fill(_ terms: UnsafeMutableRawPointer, from rows: UnsafeRawPointer, rows count: Int) {
    for row in 0..<count {
      let bytes = unsafe rows + row &* depth
      let sum =
        isSigned
        ? unsafe SumOfBytes<Int8>.combine(
          128 &* Int32(truncatingIfNeeded: depth), bytes.assumingMemoryBound(to: Int8.self), count: depth)
        : unsafe SumOfBytes<UInt8>.combine(0, bytes.assumingMemoryBound(to: UInt8.self), count: depth)
      unsafe terms.storeBytes(of: sum &* factor, toByteOffset: 4 &* row, as: Int32.self)
    }
  }
}
